package importing

import (
	"bufio"
	"errors"
	"os"

	"github.com/mailhelm/mailhelm/core/contactfile"
)

// rejectedFile is the CSV file of rejected rows; see contactfile.RejectedWriter. The first
// rejected row creates the file. A user can correct the rows and import the file.
type rejectedFile struct {
	// name is the path of the file to create, "" for no file. header is the first record of
	// the imported file; comma is its delimiter.
	name   string
	header []string
	comma  rune
	file   *os.File
	buffer *bufio.Writer
	rows   *contactfile.RejectedWriter
}

// write appends a rejected row to the file. The first call replaces an existing file. If
// name is "", write does nothing.
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
		f.buffer = bufio.NewWriter(f.file)
		f.rows = contactfile.NewRejectedWriter(f.buffer, f.header, f.comma)
		if err := f.rows.WriteHeader(); err != nil {
			return err
		}
	}
	return f.rows.Write(row, reason)
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
	return errors.Join(f.buffer.Flush(), f.file.Close())
}
