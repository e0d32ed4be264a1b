// Package inboundtest has a router, an intake and messages for tests of receivers.
package inboundtest

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/mailhelm/mailhelm/core/inbound"
)

// Received is a message that an [Intake] accepted.
type Received struct {
	Envelope inbound.Envelope
	Body     []byte
}

// Intake keeps messages in memory. Its zero value accepts every message. It is safe for
// concurrent use.
type Intake struct {
	// Before is called before a message is read, if it is not nil. With an error the message is
	// not accepted, and not read.
	Before func(ctx context.Context, e inbound.Envelope) error
	// After is called after a message was read to its end, if it is not nil. With an error the
	// message is not accepted.
	After func(ctx context.Context, e inbound.Envelope) error

	mu       sync.Mutex
	received []Received
	broken   int
}

// Accept keeps the message, unless reading it fails.
func (i *Intake) Accept(ctx context.Context, e inbound.Envelope, body io.Reader) error {
	if len(e.Routes) == 0 || e.ID == "" {
		return errors.New("inboundtest: a message without id or routes")
	}
	if i.Before != nil {
		if err := i.Before(ctx, e); err != nil {
			return err
		}
	}
	raw, err := io.ReadAll(body)
	if err == nil && i.After != nil {
		err = i.After(ctx, e)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if err != nil {
		i.broken++
		return err
	}
	e.Size = int64(len(raw))
	i.received = append(i.received, Received{Envelope: e, Body: raw})
	return nil
}

// Received returns the accepted messages, in their order.
func (i *Intake) Received() []Received {
	i.mu.Lock()
	defer i.mu.Unlock()
	return append([]Received(nil), i.received...)
}

// Broken returns how many messages were read and not accepted.
func (i *Intake) Broken() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.broken
}
