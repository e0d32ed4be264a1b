package contactimport

import (
	"bytes"
	"cmp"

	"github.com/mailhelm/mailhelm/core/contactfile"
	"github.com/mailhelm/mailhelm/core/contactupload"
)

// rejectedRows collects the rejected rows of a run as CSV, up to a number of bytes. A short
// row of a file with many columns becomes hundreds of bytes, because it is written with all
// columns. So the limit of the file does not limit its rejected rows.
type rejectedRows struct {
	// part has the rows of the current part as CSV, and write writes into it. The caller
	// empties part after each part of the file.
	part  bytes.Buffer
	write *contactfile.RejectedWriter
	// left is the number of bytes that may still be added.
	left int
	// notKept counts the rows that were not added, and notKeptLine is the line of the first.
	notKept, notKeptLine int
}

// add adds a row with the reason of its rejection, if the row fits. After the first row that
// does not fit, it only counts rows, so that the kept rows are the first ones.
func (r *rejectedRows) add(row contactfile.Row, reason string) error {
	before := r.part.Len()
	if r.notKept == 0 {
		if err := r.write.Write(row, reason); err != nil {
			return err
		}
	}
	if size := r.part.Len() - before; r.notKept == 0 && size <= r.left {
		r.left -= size
		return nil
	}
	r.part.Truncate(before)
	if r.notKept++; r.notKept == 1 {
		r.notKeptLine = row.Line
	}
	return nil
}

// MaxRejectedBytes returns the maximum number of bytes of rejected rows that are kept of an
// upload.
func (u *Uploads) MaxRejectedBytes() int { return cmp.Or(u.MaxRejected, contactupload.MaxRejected) }
