package importing

import (
	"encoding/csv"
	"errors"
	"os"
	"slices"
	"strconv"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/importing/contactfile"
)

// rejectedFile is the CSV file of rejected rows. It holds their cells unchanged, but leaves
// out cells beyond the columns of the header. Two more columns hold the line number and the
// reason. The first rejected row creates the file. A user can correct the rows and import
// the file.
type rejectedFile struct {
	// name is the path of the file to create, "" for no file. header is the first record of
	// the imported file; comma is its delimiter.
	name   string
	header []string
	comma  rune
	file   *os.File
	rows   *csv.Writer
}

// write appends a rejected row to the file, with two more columns: its line number and the
// reason. The first call replaces an existing file. If the imported file already has these
// two columns from an earlier rejection, write replaces them. If name is "", write does
// nothing.
func (f *rejectedFile) write(row contactfile.Row, reason string) error {
	if f.name == "" {
		return nil
	}
	if f.file == nil {
		var err error
		// Private, because it contains addresses.
		if f.file, err = os.OpenFile(f.name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600); err != nil {
			return err
		}
		f.rows = csv.NewWriter(f.file)
		f.rows.Comma = f.comma
		header := slices.DeleteFunc(slices.Clone(f.header), contactfile.IsRejectedColumn)
		if err := f.rows.Write(append(header, contactfile.RejectedColumns...)); err != nil {
			return err
		}
	}
	cells := make([]string, 0, len(f.header)+len(contactfile.RejectedColumns))
	for i, name := range f.header {
		if contactfile.IsRejectedColumn(name) {
			continue
		}
		cell := ""
		if i < len(row.Cells) {
			cell = row.Cells[i]
		}
		cells = append(cells, cell)
	}
	return f.rows.Write(append(cells, strconv.Itoa(row.Line), reason))
}

// createdName returns the name of the file of rejected rows, or "" if it was not created.
func (f *rejectedFile) createdName() string {
	if f.file == nil {
		return ""
	}
	return f.name
}

// close writes buffered rows and closes the file of rejected rows. It does nothing if the
// file was not created. An error means that rows may be missing from the file.
func (f *rejectedFile) close() error {
	if f.file == nil {
		return nil
	}
	f.rows.Flush()
	return errors.Join(f.rows.Error(), f.file.Close())
}
