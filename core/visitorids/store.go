package visitorids

import (
	"context"
	"time"
)

// Store stores visitor ids. Every method sees only the given organization, ContactsOf those of
// its keys.
type Store interface {
	// VisitorID returns the contact's visitor id. It fails with core.CodeNotFound when
	// the contact has none.
	VisitorID(ctx context.Context, orgID, contactID string) (Record, error)
	// InsertVisitorID stores a visitor id. It fails with core.CodeConflict when the
	// contact has one.
	InsertVisitorID(ctx context.Context, orgID string, r Record) error
	// DeleteVisitorID deletes the contact's visitor id, if it has one.
	DeleteVisitorID(ctx context.Context, orgID, contactID string) error
	// ContactsOf returns the ids of the contacts that have the visitor ids. It skips ids that
	// no contact of their organization has.
	ContactsOf(ctx context.Context, ids []Key) (map[Key]string, error)
}

// Record is a visitor id as it is stored.
type Record struct {
	ContactID string
	// Hash is the SHA-256 of the visitor id.
	Hash []byte
	// Sealed is the encrypted visitor id.
	Sealed   []byte
	IssuedAt time.Time
}
