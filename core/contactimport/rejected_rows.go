package contactimport

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bulk"
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

// withholdErased removes the cells of rejected rows with the address of a person who was erased
// and must get no mail, because rejected rows and previews are stored for days. Their lines are
// kept, with the reason that the address is refused.
func (r *run) withholdErased(ctx context.Context, part []contactfile.Row, outcomes []contactupload.Outcome) error {
	var keys []string
	for i, row := range part {
		if outcomes[i].Reason != "" {
			keys = append(keys, addressesIn(row.Cells)...)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	erased, err := r.cfg.People.Erased(ctx, r.cfg.OrgID, keys)
	if err != nil || len(erased) == 0 {
		return err
	}
	reason := reasonOf(bulk.ErasedOutcome(0))
	for i, row := range part {
		if outcomes[i].Reason != "" && hasErased(row.Cells, erased) {
			part[i].Cells, outcomes[i].Reason = nil, reason
		}
	}
	return nil
}

// withholdErasedSample empties the rows of a sample in the same way.
func (u *Uploads) withholdErasedSample(ctx context.Context, orgID string, sample contactfile.Sample) error {
	keys := addressesIn(slices.Concat(sample.Rows...))
	if len(keys) == 0 {
		return nil
	}
	erased, err := u.Contacts.Erased(ctx, orgID, keys)
	for _, row := range sample.Rows {
		if hasErased(row, erased) {
			clear(row)
		}
	}
	return err
}

// hasErased reports whether one of the cells is an address that is in erased.
func hasErased(cells []string, erased map[string]bool) bool {
	return len(erased) > 0 && slices.ContainsFunc(addressesIn(cells), func(key string) bool { return erased[key] })
}

// addressesIn returns the keys of the cells that may be addresses, in any column.
func addressesIn(cells []string) []string {
	var keys []string
	for _, cell := range cells {
		if strings.Contains(cell, "@") {
			keys = append(keys, core.EmailKey(strings.TrimSpace(cell)))
		}
	}
	return keys
}
