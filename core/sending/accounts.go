package sending

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Open opens the account of a connection without asking it anything.
type Open func(Connection) (Account, error)

// Accounts is everybody's sending account: for each organization the one that it
// is connected to. It is safe for concurrent use.
//
// An account that is open stays open for as long as its connection is the same,
// which is looked up again every few seconds.
type Accounts struct {
	connections Connections
	otherwise   Account
	open        map[Provider]Open
	clock       core.Clock

	mu      sync.RWMutex
	entries map[string]opened
}

// AccountsConfig is what Accounts work on.
type AccountsConfig struct {
	Connections Connections
	// Otherwise is the embedded account: that of organizations without a
	// connection, of which it may know nothing either, and of those whose
	// connection is Simulated.
	Otherwise Account
	// Open are the adapters of the other providers.
	Open  map[Provider]Open
	Clock core.Clock
}

const (
	// connectionGoodFor is how long another process's change of a connection may
	// go unnoticed.
	connectionGoodFor = 3 * time.Second
	// lookTimeout is the deadline that finding the connection has of its own, apart
	// from that of what the account is then asked.
	lookTimeout     = 5 * time.Second
	maxOpenAccounts = 10_000
	evictionSample  = 8
)

var _ Account = (*Accounts)(nil)

// opened is an organization's account. updated says of which version of the
// connection; it is zero without one.
type opened struct {
	account Account
	updated time.Time
	looked  time.Time
}

// fresh: a clock that was set back makes nothing stay fresh for longer.
func (o opened) fresh(now time.Time) bool {
	age := now.Sub(o.looked)
	return o.account != nil && age >= 0 && age < connectionGoodFor
}

// NewAccounts makes Accounts.
func NewAccounts(c AccountsConfig) *Accounts {
	if c.Clock == nil {
		c.Clock = core.SystemClock
	}
	return &Accounts{
		connections: c.Connections, otherwise: c.Otherwise, open: c.Open, clock: c.Clock, entries: map[string]opened{},
	}
}

// Forget makes the next call look at the organization's connection again. Whoever
// changes a connection in this process calls it.
func (a *Accounts) Forget(orgID string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.entries, orgID)
}

// of is the organization's account. It fails with a *Failure.
func (a *Accounts) of(ctx context.Context, orgID string) (Account, error) {
	now := a.clock()
	a.mu.RLock()
	entry := a.entries[orgID]
	a.mu.RUnlock()
	if entry.fresh(now) {
		return entry.account, nil
	}
	return a.look(ctx, orgID, now)
}

// look reads the connection. Several may do so at once; the account is opened by
// one of them.
func (a *Accounts) look(ctx context.Context, orgID string, now time.Time) (Account, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	c, err := a.connections.Connection(ctx, orgID)
	if refusal, ok := errors.AsType[*core.Error](err); ok && refusal.Code == core.CodeNotFound {
		c, err = Connection{Provider: Simulated}, nil
	}
	if err != nil {
		return nil, lookFailure(ctx, err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	entry, known := a.entries[orgID]
	switch {
	case known && entry.updated.Equal(c.UpdatedAt):
	case c.Provider == Simulated:
		entry = opened{account: a.otherwise, updated: c.UpdatedAt}
	default:
		account, err := a.openAccount(c)
		if err != nil {
			return nil, err
		}
		entry = opened{account: account, updated: c.UpdatedAt}
	}
	entry.looked = now
	if !known && len(a.entries) >= maxOpenAccounts {
		a.evict()
	}
	a.entries[orgID] = entry
	return entry.account, nil
}

func (a *Accounts) openAccount(c Connection) (Account, error) {
	open, ok := a.open[c.Provider]
	if !ok {
		return nil, &Failure{Kind: Unsupported, Err: fmt.Errorf("no adapter for the provider %q", c.Provider)}
	}
	account, err := open(c)
	if err != nil {
		return nil, &Failure{Kind: Refused, Err: fmt.Errorf("open the account: %w", err)}
	}
	return account, nil
}

// evict drops the entry of a few random ones that was looked at longest ago.
func (a *Accounts) evict() {
	var victim string
	var longest time.Time
	seen := 0
	for orgID, entry := range a.entries {
		if seen == 0 || entry.looked.Before(longest) {
			victim, longest = orgID, entry.looked
		}
		if seen++; seen == evictionSample {
			break
		}
	}
	delete(a.entries, victim)
}

// lookFailure is why the connection could not be read.
func lookFailure(ctx context.Context, err error) *Failure {
	kind := Refused
	if ctx.Err() != nil {
		kind = TimedOut
	}
	return &Failure{Kind: kind, Err: fmt.Errorf("connection of the account: %w", err)}
}

// Probe connects to an account whose overview does not show whether that works.
func (a *Accounts) Probe(ctx context.Context, orgID string) error {
	account, err := a.of(ctx, orgID)
	if err != nil {
		return err
	}
	if prober, ok := account.(Prober); ok {
		return prober.Probe(ctx, orgID)
	}
	return nil
}
