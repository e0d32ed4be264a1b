// Package contactfile reads contacts from a CSV file (RFC 4180). It defines the rules for
// such a file and what its columns set. Package core/bulk stores the rows.
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
	// MaxRecord is the maximum length of a record in bytes, far more than a contact needs. A
	// longer record usually has a quote that is never closed.
	MaxRecord = 1 << 20
	// maxHeader is the number of bytes at the start of the file that Open inspects to detect
	// its format and its delimiter.
	maxHeader = 64 << 10
	// maxColumns is the maximum number of columns, far more than contacts need. It limits
	// the work for a file whose first line is not a header.
	maxColumns = 500
)

// Config configures how a contact file is read.
type Config struct {
	// Delimiter separates the cells of a record. 0 means the character that is most frequent
	// in the header: comma, semicolon or tab.
	Delimiter rune
	// Map assigns columns to contact fields, attributes or topics. Its keys are headers; its
	// values are names such as "email" or "attributes.plan", or "" to ignore the column.
	Map map[string]string
	// Targets has, for each column in the order of the file, what it sets: a value of Map,
	// or "" to ignore the column. nil means that headers and Map decide.
	Targets []string
	// Attributes are the names of the registered attributes, which headers may name.
	Attributes []string
	// IgnoreUnknown ignores columns with an unknown header instead of refusing the file.
	IgnoreUnknown bool
	// ClearEmpty means that an empty cell clears the contact's attribute of that column.
	// Otherwise an empty cell leaves the attribute unchanged.
	ClearEmpty bool
	// Rebind sets rebind_external_id in every row. A contact with the row's email address
	// then takes the row's external id in place of its own.
	Rebind bool
}

// Row is one record of a contact file.
type Row struct {
	// Line is the line number at which the record begins, counted from 1.
	Line int
	// Cells are the cells of the record as they are in the file, without those beyond the
	// columns of the header.
	Cells []string
	// JSON is the contact in the form of a bulk write. It is nil if the row is invalid;
	// Fault then is the reason.
	JSON  json.RawMessage
	Fault string
	// Email and ExternalID are those of JSON, "" if it has none.
	Email, ExternalID string
	// End is the number of bytes of the file up to the end of the record. Size is the number
	// of bytes from the end of the record before, or of the header, to End.
	End, Size int64
}

// Reader reads the rows of a contact file one by one. It keeps only one row in memory.
type Reader struct {
	records *csv.Reader
	// limit bounds the size of the record that is being read. line is the number, from 1, of
	// the line after the last record that was read.
	limit *recordLimit
	line  int
	// skipped is the number of bytes before the header: of the byte order mark, or 0.
	skipped int64
	header  []string
	columns []column
	cfg     Config
	// failed is the error that ended reading. Every later call of Next returns it.
	failed error
}

// Open returns a reader of a contact file and reads its header. It fails if the file is not
// CSV in UTF-8, if two columns set the same field, attribute or topic, and if no column
// identifies a contact. It also fails for an unknown header, unless cfg.IgnoreUnknown is
// true.
func Open(file io.Reader, cfg Config) (*Reader, error) {
	r, err := openHeader(file, cfg)
	if err != nil {
		return nil, err
	}
	r.columns, err = columnsOf(r.header, cfg)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// openHeader returns a reader of a contact file that has read the header, without deciding
// what the columns set.
func openHeader(file io.Reader, cfg Config) (*Reader, error) {
	limit := &recordLimit{from: file, remaining: MaxRecord}
	text := bufio.NewReaderSize(limit, maxHeader)
	start, err := text.Peek(maxHeader)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return nil, err
	}
	if err := checkStart(start); err != nil {
		return nil, err
	}
	skipped := 0
	if bytes.HasPrefix(start, byteOrderMark) {
		start = start[len(byteOrderMark):]
		skipped, _ = text.Discard(len(byteOrderMark)) // it was peeked
	}
	r := &Reader{records: csv.NewReader(text), limit: limit, line: 1, skipped: int64(skipped), cfg: cfg}
	r.records.FieldsPerRecord = -1
	if r.records.Comma = cfg.Delimiter; cfg.Delimiter == 0 {
		r.records.Comma = delimiterOf(start)
	}
	if err := r.readHeader(); err != nil {
		return nil, err
	}
	return r, nil
}

// byteOrderMark is the UTF-8 byte order mark, with which spreadsheet programs begin CSV
// files.
var byteOrderMark = []byte("\xef\xbb\xbf")

// checkStart returns an error if the beginning of the file is empty, or is that of another
// format, such as gzip or PDF.
func checkStart(start []byte) error {
	signs := []struct{ prefix, what, remedy string }{
		{"\xff\xfe", "text in UTF-16", "save it as UTF-8"},
		{"\xfe\xff", "text in UTF-16", "save it as UTF-8"},
		{"\x1f\x8b", "compressed with gzip", "unpack it"},
		{"PK\x03\x04", "a ZIP archive or a spreadsheet", "save it as CSV in UTF-8"},
		{"%PDF", "a PDF", "save it as CSV in UTF-8"},
	}
	for _, sign := range signs {
		if bytes.HasPrefix(start, []byte(sign.prefix)) {
			return fmt.Errorf("the file is %s: %s", sign.what, sign.remedy)
		}
	}
	if len(bytes.TrimSpace(start)) == 0 {
		return errors.New("the file is empty: write the names of the columns into its first line")
	}
	return nil
}

// checkHeaderText returns an error if the header is not UTF-8 or has NUL characters.
func checkHeaderText(header string) error {
	if strings.IndexByte(header, 0) >= 0 {
		return errors.New("the header has NUL characters: the file is not text, or is text in UTF-16: save it as CSV in UTF-8")
	}
	if !utf8.ValidString(header) {
		return errors.New("the header is not in UTF-8: the file may be in Latin-1 or Windows-1252: save it as UTF-8")
	}
	return nil
}

// delimiterOf returns the most frequent delimiter in the first line. If several are equally
// frequent, it prefers comma, then semicolon. Without any delimiter it returns a comma.
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

// readHeader reads the first record of the file. It fails for more than maxColumns columns
// and for text that is not UTF-8.
func (r *Reader) readHeader() error {
	header, err := r.records.Read()
	if err != nil {
		return r.explain(err)
	}
	if len(header) > maxColumns {
		return fmt.Errorf("the header has %d columns, more than %d", len(header), maxColumns)
	}
	if err := checkHeaderText(strings.Join(header, ",")); err != nil {
		return err
	}
	r.header, r.line = header, r.lineAfter(header)
	return nil
}

// Header returns the cells of the first record, which name the columns. The caller must not
// change the slice.
func (r *Reader) Header() []string { return r.header }

// Delimiter returns the character that separates cells, configured or detected.
func (r *Reader) Delimiter() rune { return r.records.Comma }

// Next returns the next row. An invalid record is a Row with a Fault, after which reading
// can continue. At the end of the file Next returns io.EOF. Any other error means that the
// rest of the file cannot be read.
func (r *Reader) Next() (Row, error) {
	if r.failed != nil {
		return Row{}, r.failed
	}
	r.limit.remaining = MaxRecord
	before := r.records.InputOffset()
	cells, err := r.records.Read()
	end := r.records.InputOffset()
	row := Row{Cells: r.cellsOfColumns(cells), End: r.skipped + end, Size: end - before}
	if len(cells) > 0 {
		row.Line, _ = r.records.FieldPos(0)
	}
	if wrong, ok := errors.AsType[*csv.ParseError](err); ok {
		row.Line = wrong.StartLine
		row.Fault = fmt.Sprintf("line %d is not valid CSV: %v", wrong.Line, wrong.Err)
		r.line = wrong.Line + 1
		return row, nil
	}
	if err != nil {
		r.failed = r.explain(err)
		return Row{}, r.failed
	}
	r.line = r.lineAfter(cells)
	row.JSON, row.Fault = r.row(cells)
	if row.Fault == "" {
		row.Email, row.ExternalID = r.identity(cells)
	}
	return row, nil
}

// cellsOfColumns returns the cells of a record without those beyond the columns of the
// header. A record of 1 MiB may have a million cells, and callers keep many rows. So the
// result does not refer to the text of the cells that it leaves out.
func (r *Reader) cellsOfColumns(cells []string) []string {
	if len(cells) <= len(r.header) {
		return cells
	}
	kept := make([]string, len(r.header))
	for i := range kept {
		kept[i] = strings.Clone(cells[i])
	}
	return kept
}

// explain adds the line number to a read error. It returns io.EOF unchanged, because
// callers test for io.EOF.
func (r *Reader) explain(err error) error {
	switch {
	case errors.Is(err, errRecordTooLong):
		return fmt.Errorf("the record at line %d is longer than 1 MiB: check that its quotes are closed", r.line)
	case errors.Is(err, io.EOF):
		return io.EOF
	}
	return fmt.Errorf("at line %d: %w", r.line, err)
}

// lineAfter returns the number, from 1, of the line after the record that was read last. The
// last cell may contain line breaks.
func (r *Reader) lineAfter(cells []string) int {
	last := len(cells) - 1
	line, _ := r.records.FieldPos(last)
	return line + 1 + strings.Count(cells[last], "\n")
}

// errRecordTooLong is the error of recordLimit.Read. Reader replaces it by an error with
// the line number.
var errRecordTooLong = errors.New("record too long")

// recordLimit is a reader that fails when one record of the contact file is too long. It
// checks the limit only before each read, so it may return slightly more bytes than the
// limit before it fails.
type recordLimit struct {
	// The field named from is the contact file. The field named remaining is the number of
	// bytes that may still be read for the current record; Reader.Next resets it.
	from      io.Reader
	remaining int
}

// Read reads from the contact file. It returns errRecordTooLong if the current record is
// longer than allowed.
func (l *recordLimit) Read(b []byte) (int, error) {
	if l.remaining <= 0 {
		return 0, errRecordTooLong
	}
	n, err := l.from.Read(b)
	l.remaining -= n
	return n, err
}
