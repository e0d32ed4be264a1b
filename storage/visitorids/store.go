// Package visitorids is the storage of core/visitorids: the ids by which the customer's
// website recognizes a contact.
package visitorids

import (
	"context"
	"encoding/hex"

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
	// visitorsByHash selects the contacts of visitor ids of any organizations, by the unique
	// index on organization and hash.
	visitorsByHash = engine.Register("contacts of visitor ids", `
		SELECT i.org_id, i.contact_id, i.hash FROM `+engine.ParameterRows(`$1`)+`
		CROSS JOIN /*pg LATERAL (SELECT * FROM*/ visitor_ids /*pg AS named
			WHERE named.org_id = CAST(v ->> 'org' AS bytetext) AND named.hash = unhex(v ->> 'hash') LIMIT 1)*/ AS i
		WHERE i.org_id = v ->> 'org' AND i.hash = unhex(v ->> 'hash')`)
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
	return s.db.Later(ctx, deleteVisitor, orgID, contactID)
}

// visitorKey is an element of the JSON parameter of visitorsByHash. Hash has hexadecimal
// digits.
type visitorKey struct {
	Org  string `json:"org"`
	Hash string `json:"hash"`
}

// foundVisitor is a row of the result of visitorsByHash.
type foundVisitor struct {
	OrgID     string `db:"org_id"`
	ContactID string `db:"contact_id"`
	Hash      []byte `db:"hash"`
}

func (s Store) ContactsOf(ctx context.Context, ids []visitorids.Key) (map[visitorids.Key]string, error) {
	keys := make([]visitorKey, len(ids))
	for i, id := range ids {
		keys[i] = visitorKey{id.OrgID, hex.EncodeToString(id.Hash[:])}
	}
	parameter, err := engine.JSONParameter(keys)
	if err != nil {
		return nil, err
	}
	rows, err := engine.List[foundVisitor](ctx, s.db, visitorsByHash, parameter)
	found := make(map[visitorids.Key]string, len(rows))
	for _, row := range rows {
		if len(row.Hash) == len(visitorids.Hash{}) {
			found[visitorids.Key{OrgID: row.OrgID, Hash: visitorids.Hash(row.Hash)}] = row.ContactID
		}
	}
	return found, err
}
