package contactfile

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
)

// RejectedWriter writes rejected rows as CSV. It writes their cells unchanged, but leaves
// out cells beyond the columns of the header. Two more columns hold the line number and the
// reason; see [RejectedColumns]. A user can correct the rows and import the file.
type RejectedWriter struct {
	// header is the first record of the imported file.
	header []string
	rows   *csv.Writer
}

// NewRejectedWriter returns a writer of rows of a file with this header and delimiter.
func NewRejectedWriter(to io.Writer, header []string, delimiter rune) *RejectedWriter {
	rows := csv.NewWriter(to)
	rows.Comma = delimiter
	return &RejectedWriter{header, rows}
}

// WriteHeader writes the names of the columns. If the imported file already has the two
// columns from an earlier rejection, WriteHeader and Write replace them.
func (w *RejectedWriter) WriteHeader() error {
	header := slices.DeleteFunc(slices.Clone(w.header), IsRejectedColumn)
	return w.write(append(header, RejectedColumns...))
}

// Write writes a rejected row with its line number and the reason.
func (w *RejectedWriter) Write(row Row, reason string) error {
	cells := make([]string, 0, len(w.header)+len(RejectedColumns))
	for i, name := range w.header {
		if IsRejectedColumn(name) {
			continue
		}
		cell := ""
		if i < len(row.Cells) {
			cell = row.Cells[i]
		}
		cells = append(cells, cell)
	}
	return w.write(append(cells, strconv.Itoa(row.Line), reason))
}

// write writes one record and flushes it.
func (w *RejectedWriter) write(record []string) error {
	if err := w.rows.Write(record); err != nil {
		return err
	}
	w.rows.Flush()
	return w.rows.Error()
}
