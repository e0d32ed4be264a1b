package contactimport

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bulk"
	"github.com/mailhelm/mailhelm/core/contactfile"
	"github.com/mailhelm/mailhelm/core/contactupload"
)

// part is a part of the file that is being stored.
type part struct {
	// number counts parts from 1.
	number int
	rows   []contactfile.Row
	// valid has the JSON of the valid rows, and places their indexes in rows.
	valid  []json.RawMessage
	places []int
	// addresses has the keys of the addresses of the valid rows. It is nil if a row has an
	// external id.
	addresses map[string]bool
	// stored waits until the part is stored. It is nil if no row is valid.
	stored func() (storedPart, error)
}

// storedPart has the outcomes of the valid rows of a part. before is true if an earlier run
// imported the part.
type storedPart struct {
	items  []bulk.Item
	before bool
}

func newPart(number int, rows []contactfile.Row) *part {
	p := &part{number: number, rows: rows, addresses: make(map[string]bool, len(rows))}
	for i, row := range rows {
		if row.Fault != "" {
			continue
		}
		p.valid, p.places = append(p.valid, row.JSON), append(p.places, i)
		switch {
		case p.addresses == nil:
		case row.ExternalID != "":
			p.addresses = nil
		default:
			p.addresses[core.EmailKey(row.Email)] = true
		}
	}
	return p
}

// mustFollow reports whether p must be stored after the earlier part. Rows that have only
// addresses change no other contacts than those with the addresses. A row with an external id
// may change the contact with another address, and give it its own.
func (p *part) mustFollow(earlier *part) bool {
	if p.addresses == nil || earlier.addresses == nil {
		return true
	}
	for address := range p.addresses {
		if earlier.addresses[address] {
			return true
		}
	}
	return false
}

// begin starts to store the rows of the next part of the file, after those that must be stored
// before. Then it waits until another part may begin.
func (r *run) begin(ctx context.Context, rows []contactfile.Row) error {
	r.parts++
	p := newPart(r.parts, rows)
	for slices.ContainsFunc(r.storing, p.mustFollow) {
		if err := r.endFirst(ctx); err != nil {
			return err
		}
	}
	if len(p.valid) > 0 {
		p.stored = core.StartAsync(func() (storedPart, error) { return r.store(ctx, p) })
	}
	r.storing = append(r.storing, p)
	if len(r.storing) < r.cfg.AtOnce {
		return nil
	}
	return r.endFirst(ctx)
}

// endAll waits for all parts that are being stored.
func (r *run) endAll(ctx context.Context) error {
	for len(r.storing) > 0 {
		if err := r.endFirst(ctx); err != nil {
			return err
		}
	}
	return nil
}

// endFirst waits until the first of the parts that are being stored is stored, and reports its
// rows. It fails if the part cannot be stored or if cfg.Rejected fails.
func (r *run) endFirst(ctx context.Context) error {
	p := r.storing[0]
	r.storing = r.storing[1:]
	outcomes := make([]contactupload.Outcome, len(p.rows))
	for i, row := range p.rows {
		outcomes[i] = contactupload.Outcome{Status: contactupload.RowRejected, Reason: row.Fault}
	}
	if p.stored != nil {
		stored, err := p.stored()
		if err != nil {
			return err
		}
		if stored.before {
			r.DoneBefore += len(p.valid)
		}
		for _, item := range stored.items {
			outcomes[p.places[item.Index]] = r.count(item, p.rows[p.places[item.Index]].Line)
		}
	}
	if err := r.withholdErased(ctx, p.rows, outcomes); err != nil {
		return err
	}
	if err := r.report(p.rows, outcomes); err != nil || r.cfg.Stored == nil {
		return err
	}
	return r.cfg.Stored(ctx, r.Summary)
}

// endBegun waits for the parts that are being stored when a person stops the import, and reports
// those that are stored. It returns errStopped, or an error with which a part failed.
func (r *run) endBegun(ctx context.Context) error {
	for len(r.storing) > 0 {
		if err := r.endFirst(ctx); err != nil && !errors.Is(err, errStopped) {
			return err
		}
	}
	return errStopped
}

// abandon waits for the parts that are being stored and ignores their outcomes. A repeated import
// finds those that were stored.
func (r *run) abandon() {
	for _, p := range r.storing {
		if p.stored != nil {
			_, _ = p.stored()
		}
	}
}

// store stores the valid rows of a part and returns an outcome for each of them. With cfg.DryRun
// it only checks the rows. If an earlier run imported this part of the file, it returns the
// outcomes of that run, unless cfg.Again is true. It reads r.cfg and changes nothing of r.
func (r *run) store(ctx context.Context, p *part) (storedPart, error) {
	if r.cfg.DryRun {
		items, err := r.cfg.People.TryImport(ctx, r.cfg.OrgID, p.valid)
		return storedPart{items: items}, err
	}
	id, before := core.NewID(), false
	if !r.cfg.Again {
		id = idOf(r.cfg.OrgID, r.cfg.Upload, p.number, p.valid)
		err := r.checkStarted(ctx, id)
		if err == nil {
			before, err = r.cfg.People.IsImported(ctx, r.cfg.OrgID, id)
		}
		if err != nil {
			return storedPart{}, err
		}
	}
	items, err := r.cfg.People.Import(ctx, r.cfg.OrgID, r.cfg.By, id, p.valid)
	if err == nil && r.cfg.List != "" {
		err = r.join(ctx, items)
	}
	return storedPart{items, before}, err
}
