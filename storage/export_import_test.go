package storage

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mailhelm/mailhelm/core/audience"
)

// BareChunk is everything that an import of new contacts writes for a chunk of rows,
// as the parameters of its statements.
type BareChunk struct {
	content, contacts, pushes, outcomes string
	size                                int
}

// NewBareChunk makes the parameters, which is what the loader is spared.
func NewBareChunk(rows []json.RawMessage, contacts []audience.Contact, outcomes []audience.BulkItem) (BareChunk, error) {
	parameter, _, err := writtenContacts("", contacts)
	if err != nil {
		return BareChunk{}, err
	}
	pushes := make([]queuedPush, len(contacts))
	for i, c := range contacts {
		pushes[i] = queuedPush{c.ID, "{}"}
	}
	chunk := BareChunk{contacts: parameter, size: len(rows)}
	for to, from := range map[*string]any{&chunk.content: rows, &chunk.pushes: pushes, &chunk.outcomes: outcomes} {
		text, err := json.Marshal(from)
		if err != nil {
			return BareChunk{}, err
		}
		*to = string(text)
	}
	return chunk, nil
}

// LoadBare writes chunks as one bulk write: the statements that an import runs to
// write, in its transactions, and nothing else.
func (db *DB) LoadBare(ctx context.Context, orgID, jobID string, chunks []BareChunk, at time.Time) error {
	err := db.InTx(ctx, func(ctx context.Context) error {
		if _, err := db.exec(ctx, insertBulkJob, orgID, jobID, "queued", 0, At(at)); err != nil {
			return err
		}
		for i, chunk := range chunks {
			if _, err := db.exec(ctx, insertBulkChunk, orgID, jobID, i, chunk.size, chunk.content); err != nil {
				return err
			}
		}
		return nil
	})
	for i, chunk := range chunks {
		if err != nil {
			return err
		}
		err = db.InTx(ctx, func(ctx context.Context) error {
			for _, step := range []struct {
				statement *Statement
				args      []any
			}{
				{insertContacts, []any{orgID, At(at), chunk.contacts}},
				{queuePushes, []any{orgID, At(at), chunk.pushes}},
				{finishBulkChunk, []any{chunk.outcomes, orgID, jobID, i}},
				{updateBulkJob, []any{"processing", 0, 0, 0, 0, nil, orgID, jobID}},
			} {
				if _, err := db.exec(ctx, step.statement, step.args...); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return err
}
