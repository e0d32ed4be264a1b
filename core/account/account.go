package account

import (
	"context"
	"log/slog"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Config has the dependencies of an Account. All fields except Rates are required.
type Config struct {
	Account     SendingAccount
	Connections Connections
	Mirror      Mirror
	Requests    sending.AccessRequests
	// Rates has the figures of sent mail. With nil, the checks of rates are omitted.
	Rates Rates
	// Orgs returns every organization, for the job that visits all.
	Orgs  func(context.Context) ([]string, error)
	Clock core.Clock
	Log   *slog.Logger
}

// SendingAccount is the part of the sending account that this package uses.
type SendingAccount interface {
	channels.Account
	sending.ProductionAccess
}

// Connections returns how an account is connected. It fails with core.CodeNotFound.
type Connections interface {
	Connection(ctx context.Context, orgID string) (sending.Connection, error)
}

// Mirror is the state that the sync of package channels stores; see [channels.Store].
type Mirror interface {
	LastSync(ctx context.Context, orgID string) (channels.Sync, error)
	Channels(ctx context.Context, orgID string, after *core.After, limit int) ([]channels.Channel, error)
	Identities(ctx context.Context, orgID string, after *core.After, limit int) ([]channels.Identity, error)
	TrackingDomains(ctx context.Context, orgID string, after *core.After, limit int) ([]channels.TrackingDomain, error)
}

// Rates counts the messages of a window.
type Rates interface {
	Rates(ctx context.Context, orgID string, w core.Window) (sent, bounced, complained int64, err error)
}

// Account runs the operations of this package.
type Account struct {
	Config
	overviews overviews
}

// New returns an Account.
func New(cfg Config) *Account {
	return &Account{Config: cfg, overviews: overviews{byOrg: map[string]*answer{}}}
}

// Operations returns the operations of this package, in the order of the catalogue.
func (a *Account) Operations() []core.Operation {
	return []core.Operation{a.accountGet(), a.sendingReadinessCheck()}
}

// overview returns the state of the account. It calls the account at most once a minute
// for each organization.
func (a *Account) overview(ctx context.Context, orgID string) (sending.Overview, error) {
	return a.overviews.get(ctx, orgID, a.Clock, a.Account.Overview)
}

// Forget discards the cached state of the organization's account. Call it when the
// connection has changed.
func (a *Account) Forget(orgID string) { a.overviews.forget(orgID) }
