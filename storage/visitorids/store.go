// Package visitorids is the storage of core/visitorids: the ids by which the customer's
// website recognizes a contact.
package visitorids

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/visitorids"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// visitorRow is the id that identifies a contact on the customer's websites. Hash is the
// SHA-256 of the id; no two contacts have the same. Sealed is the encrypted id, so that it
// can be shown again.
type visitorRow struct {
	ContactID string      `db:"contact_id"`
	Hash      []byte      `db:"hash"`
	Sealed    []byte      `db:"sealed"`
	IssuedAt  engine.Time `db:"issued_at"`
}

var (
	// visitorOf selects the visitor id of a contact by primary key. A contact has at most
	// one.
	visitorOf = engine.RegisterPoint("visitor id of a contact", `
		SELECT contact_id, hash, sealed, issued_at FROM visitor_ids WHERE org_id = $1 AND contact_id = $2`)
	// insertVisitor inserts the visitor id of a contact. It changes nothing if the contact
	// has one. Of concurrent callers only one inserts a row.
	insertVisitor = engine.Register("insert visitor id", `
		INSERT INTO visitor_ids (org_id, contact_id, hash, sealed, issued_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT DO NOTHING`)
	deleteVisitor = engine.Register("delete visitor id", `DELETE FROM visitor_ids WHERE org_id = $1 AND contact_id = $2`)
)

// Store stores the ids by which contacts are recognized on websites.
type Store struct{ db *engine.DB }

var _ visitorids.Store = Store{}

// New returns the store of visitor ids on the database.
func New(db *engine.DB) Store { return Store{db} }

func (s Store) VisitorID(ctx context.Context, orgID, contactID string) (visitorids.Record, error) {
	row, err := engine.One[visitorRow](ctx, s.db, "visitor id", visitorOf, orgID, contactID)
	if err != nil {
		return visitorids.Record{}, err
	}
	return visitorids.Record{ContactID: row.ContactID, Hash: row.Hash, Sealed: row.Sealed, IssuedAt: row.IssuedAt.Time()}, nil
}

func (s Store) InsertVisitorID(ctx context.Context, orgID string, v visitorids.Record) error {
	taken := core.Conflict("The contact has a visitor id already.", "Use the one it has.")
	return s.db.Insert(ctx, taken, insertVisitor, orgID, v.ContactID, v.Hash, v.Sealed, engine.At(v.IssuedAt))
}

func (s Store) DeleteVisitorID(ctx context.Context, orgID, contactID string) error {
	_, err := s.db.Exec(ctx, deleteVisitor, orgID, contactID)
	return err
}
