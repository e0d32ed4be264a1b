package ingest

import (
	"context"
	"crypto/rsa"
)

// Fixed is a [Publisher] within this process, whose key is known.
type Fixed struct{ PublicKey *rsa.PublicKey }

// Key is the key, whatever address a message names.
func (f Fixed) Key(context.Context, string) (*rsa.PublicKey, error) { return f.PublicKey, nil }

// Confirm has nothing to do: nobody waits for it.
func (Fixed) Confirm(context.Context, string, string) error { return nil }
