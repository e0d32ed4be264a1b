package sending

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Open opens the account of a connection without calling the provider.
type Open func(Connection) (Account, error)

// Accounts implements [Account] for all organizations: each call goes to the account of
// the organization that the call names. It is safe for concurrent use.
//
// An account stays open while its connection is unchanged. The connection is read again
// every few seconds.
type Accounts struct {
	connections Connections
	otherwise   Account
	open        map[Provider]Open
	clock       core.Clock

	mu      sync.RWMutex
	entries map[string]opened
}

// AccountsConfig configures [Accounts].
type AccountsConfig struct {
	Connections Connections
	// Otherwise is the embedded account. It serves organizations whose connection is
	// Simulated and organizations without a connection. It may have no account for an
	// organization without a connection.
	Otherwise Account
	// Open has one function for each provider other than Simulated.
	Open  map[Provider]Open
	Clock core.Clock
}

const (
	// connectionGoodFor is the longest time for which a change of a connection by another
	// process may go unnoticed.
	connectionGoodFor = 3 * time.Second
	// lookTimeout is the deadline for reading the connection. It is separate from the
	// deadline of the call to the account.
	lookTimeout     = 5 * time.Second
	maxOpenAccounts = 10_000
	evictionSample  = 8
)

var _ Account = (*Accounts)(nil)

// opened is an organization's account. updated is the UpdatedAt of the connection it
// was opened for; it is zero without a connection.
type opened struct {
	account Account
	updated time.Time
	looked  time.Time
}

// isFresh reports whether the entry may be used without reading the connection again. A
// clock that was set back makes the entry stale.
func (o opened) isFresh(now time.Time) bool {
	age := now.Sub(o.looked)
	return o.account != nil && age >= 0 && age < connectionGoodFor
}

// NewAccounts returns an Accounts without open accounts. A nil Clock means core.SystemClock.
func NewAccounts(c AccountsConfig) *Accounts {
	if c.Clock == nil {
		c.Clock = core.SystemClock
	}
	return &Accounts{
		connections: c.Connections, otherwise: c.Otherwise, open: c.Open, clock: c.Clock, entries: map[string]opened{},
	}
}

// Forget makes the next call read the organization's connection again. Call it after
// changing a connection in this process.
func (a *Accounts) Forget(orgID string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.entries, orgID)
}

// accountOf returns the organization's account. It fails with a *Failure.
func (a *Accounts) accountOf(ctx context.Context, orgID string) (Account, error) {
	now := a.clock()
	a.mu.RLock()
	entry := a.entries[orgID]
	a.mu.RUnlock()
	if entry.isFresh(now) {
		return entry.account, nil
	}
	return a.look(ctx, orgID, now)
}

// look reads the connection and returns its account. Several goroutines may read at
// once; only one of them opens the account.
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

// evict samples a few random entries and drops the one whose connection was read
// longest ago.
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

// lookFailure returns the *Failure for a connection that could not be read.
func lookFailure(ctx context.Context, err error) *Failure {
	kind := Refused
	if ctx.Err() != nil {
		kind = TimedOut
	}
	return &Failure{Kind: kind, Err: fmt.Errorf("connection of the account: %w", err)}
}

// Probe checks that the account can be reached, for accounts whose overview does not
// show it. See [Prober].
func (a *Accounts) Probe(ctx context.Context, orgID string) error {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return err
	}
	if prober, ok := account.(Prober); ok {
		return prober.Probe(ctx, orgID)
	}
	return nil
}
