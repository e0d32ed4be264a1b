package bulk

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bulk"
	"github.com/mailhelm/mailhelm/core/consent"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/slots"
)

// BareChunk has the parameters for importing one chunk of new contacts. They are computed
// in advance, so that a measurement of LoadBare covers only the database.
type BareChunk struct {
	content, contacts, slots, pushes, touched, outcomes string
	slotInsertion                                       *engine.Statement
	first, size                                         int
}

// NewBareChunk prepares the parameters of a chunk before the measurement, so that LoadBare
// measures only the database. It reads from the database which columns of contact_slots the
// organization's attributes have.
func NewBareChunk(
	ctx context.Context, db *engine.DB, orgID string, first int, rows []json.RawMessage, all []contacts.Contact, outcomes []bulk.Item,
) (BareChunk, error) {
	registered, err := slots.ReadRegistry(ctx, db, orgID)
	if err != nil {
		return BareChunk{}, err
	}
	chunk := BareChunk{first: first, size: len(rows), slotInsertion: registered.Insertion()}
	if chunk.contacts, _, err = writtenContacts(orgID, all); err != nil {
		return BareChunk{}, err
	}
	if chunk.slots, err = registered.NewRows(slotContacts(all)); err != nil {
		return BareChunk{}, err
	}
	pushes, touched := make([]queuedPush, len(all)), make([]map[string]string, len(all))
	for i, c := range all {
		pushes[i], touched[i] = queuedPush{c.ID, "{}"}, map[string]string{"id": core.NewID(), "contact": c.ID}
	}
	for to, from := range map[*string]any{&chunk.content: rows, &chunk.pushes: pushes, &chunk.touched: touched, &chunk.outcomes: outcomes} {
		text, err := json.Marshal(from)
		if err != nil {
			return BareChunk{}, err
		}
		*to = string(text)
	}
	return chunk, nil
}

// LoadBare imports chunks as one bulk write. It runs only the writing statements of an
// import, in the same transactions as an import.
func LoadBare(ctx context.Context, db *engine.DB, orgID, jobID string, chunks []BareChunk, at time.Time) error {
	total := 0
	for _, chunk := range chunks {
		total += chunk.size
	}
	err := db.InTx(ctx, func(ctx context.Context) error {
		if _, err := db.Exec(ctx, insertBulkJob, orgID, jobID, string(consent.ByCommand), "queued", total, engine.At(at)); err != nil {
			return err
		}
		for _, chunk := range chunks {
			if _, err := db.Exec(ctx, insertBulkChunk, orgID, jobID, chunk.first, chunk.size, chunk.content); err != nil {
				return err
			}
		}
		return nil
	})
	for _, chunk := range chunks {
		if err != nil {
			return err
		}
		err = db.InTx(ctx, func(ctx context.Context) error { return loadChunk(ctx, db, orgID, jobID, chunk, total, at) })
	}
	return err
}

func loadChunk(ctx context.Context, db *engine.DB, orgID, jobID string, chunk BareChunk, total int, at time.Time) error {
	done := chunk.first + chunk.size
	status, completed := "processing", (*engine.Time)(nil)
	if done == total {
		now := engine.At(at)
		status, completed = "completed", &now
	}
	for _, step := range []struct {
		statement *engine.Statement
		args      []any
	}{
		{insertContacts, []any{orgID, chunk.contacts}},
		{chunk.slotInsertion, []any{orgID, chunk.slots}},
		{insertPushes, []any{orgID, engine.At(at), chunk.pushes}},
		{statementNamed("touch contacts"), []any{orgID, chunk.touched}},
		{finishBulkChunk, []any{chunk.outcomes, orgID, jobID, chunk.first}},
		{updateBulkJob, []any{status, done, done, 0, 0, completed, orgID, jobID}},
	} {
		if _, err := db.Exec(ctx, step.statement, step.args...); err != nil {
			return err
		}
	}
	return nil
}

// statementNamed returns the registered statement with the name, which may belong to
// another package.
func statementNamed(name string) *engine.Statement {
	statements := engine.Statements()
	return statements[slices.IndexFunc(statements, func(s *engine.Statement) bool { return s.Name() == name })]
}
