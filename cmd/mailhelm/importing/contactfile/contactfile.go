// Package contactfile reads contacts from a file in CSV (RFC 4180): it owns what may
// be in such a file and which column means what. What becomes of a row is
// core/audience's.
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
	// MaxRecord is the longest record, in bytes: more than any contact can hold. A
	// longer one is nearly always a quote that was never closed.
	MaxRecord = 1 << 20
	// maxHeader is how much of a file is looked at before anything is read of it.
	maxHeader  = 64 << 10
	maxColumns = 500
)

// Config says how a file is to be read.
type Config struct {
	// Delimiter stands between fields; 0 means the one that the header shows: comma,
	// semicolon or tab.
	Delimiter rune
	// Map gives columns, by their header, another meaning than the header has: the
	// name of a field, or "" for none.
	Map map[string]string
	// Attributes are the names that a header may have besides the fields.
	Attributes []string
	// IgnoreUnknown leaves out columns that mean nothing, instead of refusing them.
	IgnoreUnknown bool
	// ClearEmpty makes an empty cell clear its attribute instead of leaving it.
	ClearEmpty bool
	// Rebind lets every row take over the contact of its address.
	Rebind bool
}

// Row is one record of a file.
type Row struct {
	// Line is where it begins, from 1.
	Line int
	// Cells are the record as it came.
	Cells []string
	// JSON is the row as a bulk write takes it, nil when Fault says why it cannot be
	// one.
	JSON  json.RawMessage
	Fault string
}

// Reader reads the rows of a file one after the other and holds one at a time.
type Reader struct {
	records *csv.Reader
	limit   *recordLimit
	header  []string
	columns []column
	cfg     Config
	last    Row
	failed  error
}

// Open reads the header of a file. It fails when the file is no CSV in UTF-8, and
// when a column means nothing or two mean the same.
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

// byteOrderMark is what spreadsheets begin a text in UTF-8 with.
var byteOrderMark = []byte("\xef\xbb\xbf")

// checkStart refuses by its first bytes what is no text in UTF-8, with its name.
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

// delimiterOf is the delimiter that stands most often in the header.
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

func (r *Reader) readHeader() error {
	header, err := r.records.Read()
	if err != nil {
		return r.explained(err)
	}
	if len(header) > maxColumns {
		return fmt.Errorf("the header has %d columns, more than %d", len(header), maxColumns)
	}
	r.header, r.last = header, Row{Line: 1, Cells: header}
	r.columns, err = columnsOf(header, r.cfg)
	return err
}

// Header is the first line of the file.
func (r *Reader) Header() []string { return r.header }

// Delimiter stands between fields.
func (r *Reader) Delimiter() rune { return r.records.Comma }

// Next reads a row. A record that is no row has a Fault; the file goes on after it.
// At the end it fails with io.EOF, and with any other error when the rest of the file
// cannot be read.
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
		r.failed = r.explained(err)
		return Row{}, r.failed
	}
	r.last = row
	row.JSON, row.Fault = r.row(cells)
	return row, nil
}

// explained says what is wrong in words of the file.
func (r *Reader) explained(err error) error {
	switch {
	case errors.Is(err, errRecordTooLong):
		return fmt.Errorf("the record at line %d is longer than 1 MiB: is a quote in it never closed?", r.line())
	case errors.Is(err, io.EOF):
		return io.EOF
	}
	return fmt.Errorf("at line %d: %w", r.line(), err)
}

// line is the one behind the last record that was read.
func (r *Reader) line() int {
	line := r.last.Line + 1
	for _, cell := range r.last.Cells {
		line += strings.Count(cell, "\n")
	}
	return line
}

var errRecordTooLong = errors.New("record too long")

// recordLimit fails when one record takes more than is left. What the readers in
// front of it keep in their buffers is a part of the next record, so it stops a
// little later than at the last byte that is allowed.
type recordLimit struct {
	from io.Reader
	left int
}

// Read reads on.
func (l *recordLimit) Read(b []byte) (int, error) {
	if l.left <= 0 {
		return 0, errRecordTooLong
	}
	n, err := l.from.Read(b)
	l.left -= n
	return n, err
}
