package ingest

import (
	"context"
	"crypto/rsa"
)

// Fixed is a [Publisher] in this process, whose key is known.
type Fixed struct{ PublicKey *rsa.PublicKey }

// Key returns the key for every address.
func (f Fixed) Key(context.Context, string) (*rsa.PublicKey, error) { return f.PublicKey, nil }

// Confirm does nothing: no subscription waits for it.
func (Fixed) Confirm(context.Context, string, string) error { return nil }
