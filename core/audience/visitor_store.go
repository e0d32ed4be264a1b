package audience

import (
	"context"
	"time"
)

// VisitorStore remembers visitor ids. A contact has at most one.
type VisitorStore interface {
	// VisitorID fails with core.CodeNotFound when the contact has none.
	VisitorID(ctx context.Context, orgID, contactID string) (VisitorID, error)
	// InsertVisitorID fails with core.CodeConflict when the contact has one.
	InsertVisitorID(ctx context.Context, orgID string, v VisitorID) error
	// DeleteVisitorID revokes the contact's id, if it has one.
	DeleteVisitorID(ctx context.Context, orgID, contactID string) error
	// ContactOfVisitor finds the contact whose id has the hash.
	ContactOfVisitor(ctx context.Context, orgID string, hash []byte) (string, error)
}

// VisitorID is a visitor id as it is stored.
type VisitorID struct {
	ContactID string
	// Hash is the SHA-256 of the id.
	Hash []byte
	// Sealed is the id itself, see visitor_id.go.
	Sealed   []byte
	IssuedAt time.Time
}
