package account

import (
	"context"
	"log/slog"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Config is what the package needs. All members are required but Rates.
type Config struct {
	Account     SendingAccount
	Connections Connections
	Mirror      Mirror
	Requests    sending.AccessRequests
	// Rates are the figures of what was sent. nil keeps none, and then nothing is
	// said about rates.
	Rates Rates
	// Orgs lists every organization, for the job that visits all.
	Orgs  func(context.Context) ([]string, error)
	Clock core.Clock
	Log   *slog.Logger
}

// SendingAccount is what this package asks of the account.
type SendingAccount interface {
	channels.Account
	sending.ProductionAccess
}

// Connections tells how an account is reached. It fails with core.CodeNotFound.
type Connections interface {
	Connection(ctx context.Context, orgID string) (sending.Connection, error)
}

// Mirror is what the sync of package channels keeps; see [channels.Store].
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

// Account does the tasks of this package.
type Account struct {
	Config
	overviews overviews
}

// New makes an Account.
func New(cfg Config) *Account {
	return &Account{Config: cfg, overviews: overviews{byOrg: map[string]*answer{}}}
}

// Operations are the tasks, in the order of the catalogue.
func (a *Account) Operations() []core.Operation {
	return []core.Operation{a.accountGet(), a.sendingReadinessCheck()}
}

// overview asks the account, at most once a minute for each organization.
func (a *Account) overview(ctx context.Context, orgID string) (sending.Overview, error) {
	return a.overviews.get(ctx, orgID, a.Clock, a.Account.Overview)
}

// Forget makes the next look ask the organization's account anew, whose connection
// was changed.
func (a *Account) Forget(orgID string) { a.overviews.forget(orgID) }
