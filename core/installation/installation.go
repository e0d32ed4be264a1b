// Package installation has what all processes of an installation must know and the database
// stores for them. It belongs to no organization.
package installation

import (
	"context"
	"time"
)

// Addresses is the fact with the public addresses of the server that answers callers, as JSON.
const Addresses = "addresses"

// Store stores facts: short texts by name.
type Store interface {
	// Fact returns the value of a fact, "" if there is none.
	Fact(ctx context.Context, name string) (string, error)
	// SetFact stores the value of a fact at a time. It replaces an earlier value.
	SetFact(ctx context.Context, name, value string, at time.Time) error
}
