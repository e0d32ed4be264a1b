package contacts

import (
	"context"
	"time"
)

// VisitorStore stores visitor ids. A contact has at most one.
type VisitorStore interface {
	// VisitorID returns the contact's visitor id. It fails with core.CodeNotFound when
	// the contact has none.
	VisitorID(ctx context.Context, orgID, contactID string) (VisitorID, error)
	// InsertVisitorID stores a visitor id. It fails with core.CodeConflict when the
	// contact has one.
	InsertVisitorID(ctx context.Context, orgID string, v VisitorID) error
	// DeleteVisitorID deletes the contact's visitor id, if it has one.
	DeleteVisitorID(ctx context.Context, orgID, contactID string) error
	// ContactOfVisitor returns the id of the contact whose visitor id has this hash. It
	// fails with core.CodeNotFound if there is none.
	ContactOfVisitor(ctx context.Context, orgID string, hash []byte) (string, error)
}

// VisitorID is a visitor id as it is stored.
type VisitorID struct {
	ContactID string
	// Hash is the SHA-256 of the visitor id.
	Hash []byte
	// Sealed is the encrypted visitor id.
	Sealed   []byte
	IssuedAt time.Time
}
