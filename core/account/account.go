package account

import (
	"context"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Config is what the package needs. All members are required.
type Config struct {
	Account sending.Account
	Clock   core.Clock
}

// Account does the tasks of this package.
type Account struct {
	Config
	mu        sync.Mutex
	overviews map[string]remembered
}

type remembered struct {
	overview sending.Overview
	until    time.Time
}

// overviewLife is how stale an answer about the account may be.
const overviewLife = 60 * time.Second

// New makes an Account.
func New(cfg Config) *Account {
	return &Account{Config: cfg, overviews: map[string]remembered{}}
}

// Operations are the tasks, in the order of the catalogue.
func (a *Account) Operations() []core.Operation {
	return []core.Operation{a.accountGet(), a.sendingReadinessCheck()}
}

// overview asks the account, at most once a minute for each organization. A
// failure is not remembered.
func (a *Account) overview(ctx context.Context, orgID string) (sending.Overview, error) {
	now := a.Clock()
	a.mu.Lock()
	known, ok := a.overviews[orgID]
	a.mu.Unlock()
	if ok && now.Before(known.until) {
		return known.overview, nil
	}
	overview, err := a.Account.Overview(ctx, orgID)
	if err != nil {
		return sending.Overview{}, err
	}
	a.mu.Lock()
	a.overviews[orgID] = remembered{overview, now.Add(overviewLife)}
	a.mu.Unlock()
	return overview, nil
}
