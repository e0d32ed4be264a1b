package sending

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Open returns the sending account that a connection describes. It does not call the
// provider.
type Open func(Connection) (Account, error)

// Accounts implements [Account] for all organizations: each call goes to the sending
// account of the given organization. It is safe for concurrent use.
//
// It keeps the account of an organization until the organization's stored connection
// changes, and reads the connection again every few seconds. It has many methods because Account has.
type Accounts struct {
	connections Connections
	otherwise   Account
	open        map[Provider]Open
	prepare     func(ctx context.Context, orgID string, provider Provider) error
	clock       core.Clock

	mu      sync.RWMutex
	entries map[string]openAccount
	// forgotten is the number of calls of Forget. If it changes while a connection is read, the account is
	// not fresh afterwards.
	forgotten int
}

// AccountsConfig configures [Accounts].
type AccountsConfig struct {
	Connections Connections
	// Otherwise is the embedded simulator. It serves organizations whose connection is
	// Simulated and organizations without a connection. For the latter, it may fail with
	// NotConnected.
	Otherwise Account
	// Open has the function that opens an account, for each provider other than Simulated.
	Open map[Provider]Open
	// Prepare is called before the first use of an organization's account, and again after its
	// connection changed. It creates what Otherwise must have for the organization. It must
	// tolerate concurrent calls. nil does nothing.
	Prepare func(ctx context.Context, orgID string, provider Provider) error
	Clock   core.Clock
}

const (
	// connectionGoodFor is how long a connection is used before it is read from the
	// database again. Until then, changes by other processes have no effect, unless Forget is called.
	connectionGoodFor = 3 * time.Second
	// lookTimeout is the deadline for reading the stored connection settings from the
	// database. The call to the account has its own deadline.
	lookTimeout     = 5 * time.Second
	maxOpenAccounts = 10_000
	evictionSample  = 8
)

var _ Account = (*Accounts)(nil)

// openAccount is the open account of an organization. updated is the UpdatedAt of its
// connection, or zero without a connection. looked is when the connection was last read
// from the database.
type openAccount struct {
	account  Account
	provider Provider
	updated  time.Time
	looked   time.Time
}

// isFresh reports whether the account may be used without reading its connection again. It
// returns false if the clock was set back.
func (o openAccount) isFresh(now time.Time) bool {
	age := now.Sub(o.looked)
	return o.account != nil && age >= 0 && age < connectionGoodFor
}

// NewAccounts returns an Accounts that has no account open yet. A nil Clock means
// core.SystemClock.
func NewAccounts(c AccountsConfig) *Accounts {
	if c.Clock == nil {
		c.Clock = core.SystemClock
	}
	return &Accounts{
		connections: c.Connections, otherwise: c.Otherwise, open: c.Open, prepare: c.Prepare, clock: c.Clock, entries: map[string]openAccount{},
	}
}

// Forget lets the next use of the organization's account read its connection from the database. Call it after a
// change of the connection. If the connection did not change, the account stays open, with its pace and its
// connections to the provider.
func (a *Accounts) Forget(orgID string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forgotten++
	if entry, known := a.entries[orgID]; known {
		entry.looked = time.Time{}
		a.entries[orgID] = entry
	}
}

// ForgetAll lets the next use of each account read its connection from the database. Call it if changes of
// connections may have been missed.
func (a *Accounts) ForgetAll() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forgotten++
	for orgID, entry := range a.entries {
		entry.looked = time.Time{}
		a.entries[orgID] = entry
	}
}

// accountOf returns the organization's account. It fails with a *Failure if the connection
// cannot be read or the account cannot be opened.
func (a *Accounts) accountOf(ctx context.Context, orgID string) (Account, error) {
	entry, err := a.entryOf(ctx, orgID)
	return entry.account, err
}

// entryOf returns the organization's open account; see accountOf.
func (a *Accounts) entryOf(ctx context.Context, orgID string) (openAccount, error) {
	now := a.clock()
	a.mu.RLock()
	entry, before := a.entries[orgID], a.forgotten
	a.mu.RUnlock()
	if entry.isFresh(now) {
		return entry, nil
	}
	return a.look(ctx, orgID, now, before)
}

// ProviderOf returns the kind of the organization's sending account; [Simulated] if none is
// connected. It fails as calls of the account do if the connection cannot be read.
func (a *Accounts) ProviderOf(ctx context.Context, orgID string) (Provider, error) {
	entry, err := a.entryOf(ctx, orgID)
	return entry.provider, err
}

// look reads the organization's connection and returns its account, which it opens if the
// connection is new or has changed. Concurrent calls may all read the connection; only one
// opens the account. before is the number of calls of Forget until now.
func (a *Accounts) look(ctx context.Context, orgID string, now time.Time, before int) (openAccount, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	c, err := a.connections.Connection(ctx, orgID)
	if refusal, ok := errors.AsType[*core.Error](err); ok && refusal.Code == core.CodeNotFound {
		c, err = Connection{Provider: Simulated}, nil
	}
	if err != nil {
		return openAccount{}, lookFailure(ctx, err)
	}
	if a.prepare != nil && !a.isOpen(orgID, c.UpdatedAt) {
		if err := a.prepare(ctx, orgID, c.Provider); err != nil {
			return openAccount{}, lookFailure(ctx, err)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	entry, known := a.entries[orgID]
	switch {
	case known && entry.updated.Equal(c.UpdatedAt):
	case c.Provider == Simulated:
		entry = openAccount{account: a.otherwise, provider: Simulated, updated: c.UpdatedAt}
	default:
		account, err := a.openAccount(c)
		if err != nil {
			return openAccount{}, err
		}
		entry = openAccount{account: account, provider: c.Provider, updated: c.UpdatedAt}
	}
	if entry.looked = now; a.forgotten != before {
		entry.looked = time.Time{} // the connection may have changed since it was read
	}
	if !known && len(a.entries) >= maxOpenAccounts {
		a.evict()
	}
	a.entries[orgID] = entry
	return entry, nil
}

// isOpen reports whether the account is open with the connection that was stored at updated.
func (a *Accounts) isOpen(orgID string, updated time.Time) bool {
	a.mu.RLock()
	defer a.mu.RUnlock()
	entry, known := a.entries[orgID]
	return known && entry.updated.Equal(updated)
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

// evict removes one account from the cache a.entries: of a few random ones, the one whose
// connection was least recently read from the database. The connection of an account in use
// is read every few seconds, so the removed account is usually not in use.
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

// lookFailure returns the *Failure for a connection that could not be read, or an account that
// could not be prepared: that of the account, TimedOut if ctx has ended, Throttled if the database
// is away or overloaded, else Refused.
func lookFailure(ctx context.Context, err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	kind := Refused
	var wait time.Duration
	if own := databaseError(err); own != nil {
		kind, wait = Throttled, own.RetryAfter
	}
	if ctx.Err() != nil {
		kind = TimedOut
	}
	return &Failure{Kind: kind, RetryAfter: wait, Err: fmt.Errorf("connection of the account: %w", err)}
}

// Probe checks that the organization's account can be reached, if the account implements
// [Prober]. It does nothing for other accounts, because the overview of such an account
// already shows whether it can be reached.
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
