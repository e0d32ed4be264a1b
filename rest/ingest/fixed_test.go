package ingest_test

import (
	"context"
	"crypto/rsa"
)

// fixedKey is a publisher whose key is known. Every subscription is confirmed.
type fixedKey struct{ key *rsa.PublicKey }

// Key returns the key for every address.
func (f fixedKey) Key(context.Context, string) (*rsa.PublicKey, error) { return f.key, nil }

// Confirm returns nil.
func (fixedKey) Confirm(context.Context, string, string) error { return nil }
