package core

import "github.com/google/uuid"

// NewID returns a new identifier: a UUIDv7 (RFC 9562 section 5.7) in canonical form. UUIDs
// of version 7 are ordered by time, so inserts write to few pages of an index.
func NewID() string {
	return uuid.Must(uuid.NewV7()).String()
}

// IsID reports whether s is a UUID of any version in the canonical form with hyphens.
func IsID(s string) bool {
	if len(s) != 36 {
		return false
	}
	_, err := uuid.Parse(s)
	return err == nil
}
