// Package contactfile reads contacts from a CSV file (RFC 4180). It owns the rules for
// such a file and the mapping of its columns. Package core/bulk stores the rows.
package contactfile

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

const (
	// MaxRecord is the longest record in bytes, more than any contact needs. A longer
	// record nearly always has a quote that was never closed.
	MaxRecord = 1 << 20
	// maxHeader is the number of bytes that Open inspects before reading records.
	maxHeader = 64 << 10
	// maxColumns is far above what contacts need. It bounds the work for a file without
	// a header.
	maxColumns = 500
)

// Config configures how a file is read.
type Config struct {
	// Delimiter separates fields. 0 means the most frequent one in the header: comma,
	// semicolon or tab.
	Delimiter rune
	// Map overrides the target of columns, by header. The value is the name of a field, or
	// "" to ignore the column.
	Map map[string]string
	// Attributes are the names of attributes that a header may have.
	Attributes []string
	// IgnoreUnknown ignores columns with an unknown header instead of refusing the file.
	IgnoreUnknown bool
	// ClearEmpty makes an empty cell clear its attribute instead of leaving it unchanged.
	ClearEmpty bool
	// Rebind sets rebind_external_id in every row: a contact with the row's address then
	// takes the row's external id.
	Rebind bool
}

// Row is one record of a file.
type Row struct {
	// Line is the line on which the record begins, from 1.
	Line int
	// Cells are the unchanged cells of the record.
	Cells []string
	// JSON is the row as an item of a bulk write. It is nil if Fault gives a reason why
	// the row is invalid.
	JSON  json.RawMessage
	Fault string
}

// Reader reads the rows of a file one by one. It holds one row in memory.
type Reader struct {
	records *csv.Reader
	// limit bounds the record that is being read. last is the last record read, from
	// which the line of an error is computed.
	limit   *recordLimit
	header  []string
	columns []column
	cfg     Config
	last    Row
	// failed is the error that ended reading; every later call returns it.
	failed error
}

// Open reads the header of a file. It fails if the file is not CSV in UTF-8, and for the
// reasons of its columns: unknown, ambiguous or missing.
func Open(file io.Reader, cfg Config) (*Reader, error) {
	limit := &recordLimit{from: file, left: MaxRecord}
	text := bufio.NewReaderSize(limit, maxHeader)
	start, err := text.Peek(maxHeader)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return nil, err
	}
	if err := checkStart(start); err != nil {
		return nil, err
	}
	if bytes.HasPrefix(start, byteOrderMark) {
		start = start[len(byteOrderMark):]
		_, _ = text.Discard(len(byteOrderMark)) // it was peeked
	}
	r := &Reader{records: csv.NewReader(text), limit: limit, cfg: cfg}
	r.records.FieldsPerRecord = -1
	if r.records.Comma = cfg.Delimiter; cfg.Delimiter == 0 {
		r.records.Comma = delimiterOf(start)
	}
	if err := r.readHeader(); err != nil {
		return nil, err
	}
	return r, nil
}

// byteOrderMark starts the UTF-8 files of spreadsheet programs.
var byteOrderMark = []byte("\xef\xbb\xbf")

// checkStart returns an error if the first bytes are not text in UTF-8. The error names
// the format if it is known.
func checkStart(start []byte) error {
	signs := []struct{ prefix, what, remedy string }{
		{"\xff\xfe", "text in UTF-16", "save it as UTF-8"},
		{"\xfe\xff", "text in UTF-16", "save it as UTF-8"},
		{"\x1f\x8b", "compressed with gzip", "unpack it, or pipe it in with zcat"},
		{"PK\x03\x04", "a ZIP archive or a spreadsheet", "save it as CSV in UTF-8"},
		{"%PDF", "a PDF", "save it as CSV in UTF-8"},
	}
	for _, sign := range signs {
		if bytes.HasPrefix(start, []byte(sign.prefix)) {
			return fmt.Errorf("the file is %s: %s", sign.what, sign.remedy)
		}
	}
	header, _, _ := bytes.Cut(start, []byte("\n"))
	switch {
	case len(bytes.TrimSpace(start)) == 0:
		return errors.New("the file is empty: its first line has to name the columns")
	case bytes.IndexByte(header, 0) >= 0:
		return errors.New("the header holds NUL characters: the file is no text, or text in UTF-16: save it as CSV in UTF-8")
	case len(header) < maxHeader && !utf8.Valid(header):
		return errors.New("the header is not in UTF-8: the file may be in Latin-1 or Windows-1252: save it as UTF-8")
	}
	return nil
}

// delimiterOf returns the most frequent delimiter in the header. Among equals it
// prefers comma, then semicolon, then tab. Without any it returns a comma.
func delimiterOf(start []byte) rune {
	header, _, _ := bytes.Cut(start, []byte("\n"))
	best, most := ',', 0
	for _, candidate := range []rune{',', ';', '\t'} {
		if n := bytes.Count(header, []byte(string(candidate))); n > most {
			best, most = candidate, n
		}
	}
	return best
}

// readHeader reads the first record and determines the columns. It fails for too many
// columns, and as columnsOf does.
func (r *Reader) readHeader() error {
	header, err := r.records.Read()
	if err != nil {
		return r.explain(err)
	}
	if len(header) > maxColumns {
		return fmt.Errorf("the header has %d columns, more than %d", len(header), maxColumns)
	}
	r.header, r.last = header, Row{Line: 1, Cells: header}
	r.columns, err = columnsOf(header, r.cfg)
	return err
}

// Header returns the first line of the file. The caller must not change it.
func (r *Reader) Header() []string { return r.header }

// Delimiter returns the character between fields. It is the configured or the detected
// one.
func (r *Reader) Delimiter() rune { return r.records.Comma }

// Next returns the next row. A record that cannot be imported has a Fault, and reading
// can continue. At the end it returns io.EOF. Any other error means that the rest of the
// file cannot be read.
func (r *Reader) Next() (Row, error) {
	if r.failed != nil {
		return Row{}, r.failed
	}
	r.limit.left = MaxRecord
	cells, err := r.records.Read()
	row := Row{Cells: cells}
	if len(cells) > 0 {
		row.Line, _ = r.records.FieldPos(0)
	}
	if wrong, ok := errors.AsType[*csv.ParseError](err); ok {
		row.Line = wrong.StartLine
		row.Fault = fmt.Sprintf("line %d is no CSV: %v", wrong.Line, wrong.Err)
		r.last = Row{Line: wrong.Line}
		return row, nil
	}
	if err != nil {
		r.failed = r.explain(err)
		return Row{}, r.failed
	}
	r.last = row
	row.JSON, row.Fault = r.row(cells)
	return row, nil
}

// explain returns a read error with its line in the file. It returns io.EOF itself at
// the end of the file, because callers compare it.
func (r *Reader) explain(err error) error {
	switch {
	case errors.Is(err, errRecordTooLong):
		return fmt.Errorf("the record at line %d is longer than 1 MiB: is a quote in it never closed?", r.line())
	case errors.Is(err, io.EOF):
		return io.EOF
	}
	return fmt.Errorf("at line %d: %w", r.line(), err)
}

// line returns the number of the line after the record that was read last, counted from
// 1. Cells may contain line breaks, which count too.
func (r *Reader) line() int {
	line := r.last.Line + 1
	for _, cell := range r.last.Cells {
		line += strings.Count(cell, "\n")
	}
	return line
}

// errRecordTooLong is the error of recordLimit, which explain replaces by one with the
// line.
var errRecordTooLong = errors.New("record too long")

// recordLimit is a reader that fails when one record exceeds the limit. Readers in front
// of it buffer a part of the next record, so it may fail a little late.
type recordLimit struct {
	// from is the file. left is the number of bytes that may still be read; Next resets
	// it before each record.
	from io.Reader
	left int
}

// Read reads the next bytes, or returns errRecordTooLong.
func (l *recordLimit) Read(b []byte) (int, error) {
	if l.left <= 0 {
		return 0, errRecordTooLong
	}
	n, err := l.from.Read(b)
	l.left -= n
	return n, err
}
