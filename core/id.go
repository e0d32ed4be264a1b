package core

import "github.com/google/uuid"

// NewID mints an identifier: a UUIDv7 (RFC 9562 section 5.7) in canonical form.
// Version 7 is ordered by time, which keeps index inserts local in both databases.
func NewID() string {
	return uuid.Must(uuid.NewV7()).String()
}

// IsID reports whether s is a UUID in the canonical hyphenated form, any version.
func IsID(s string) bool {
	if len(s) != 36 {
		return false
	}
	_, err := uuid.Parse(s)
	return err == nil
}
