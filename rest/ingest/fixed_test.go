package ingest_test

import (
	"context"
	"crypto/rsa"
)

// fixedKey is a publisher that has one key for every certificate URL and confirms every
// subscription.
type fixedKey struct{ key *rsa.PublicKey }

// Key returns the fixed key for every certificate URL.
func (f fixedKey) Key(context.Context, string) (*rsa.PublicKey, error) { return f.key, nil }

// Confirm returns nil.
func (fixedKey) Confirm(context.Context, string, string) error { return nil }
