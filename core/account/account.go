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
	// Rates counts sent, bounced and complained-about messages. If it is nil,
	// sending_readiness_check omits the checks of the bounce and complaint rates.
	Rates Rates
	// Orgs returns the ids of all organizations, for the periodic job that checks their open
	// requests for production access.
	Orgs  func(context.Context) ([]string, error)
	Clock core.Clock
	Log   *slog.Logger
}

// SendingAccount has the methods of a sending account that this package calls.
type SendingAccount interface {
	channels.Account
	sending.ProductionAccess
}

// Connections returns the stored connection to an organization's sending account, such as
// the provider and the region. It fails with core.CodeNotFound if no connection is stored.
type Connections interface {
	Connection(ctx context.Context, orgID string) (sending.Connection, error)
}

// Mirror is the copy of an account's channels, identities and tracking domains that the
// sync job last stored in the database; see [channels.Store].
type Mirror interface {
	LastSync(ctx context.Context, orgID string) (channels.Sync, error)
	Channels(ctx context.Context, orgID string, after *core.After, limit int) ([]channels.Channel, error)
	Identities(ctx context.Context, orgID string, after *core.After, limit int) ([]channels.Identity, error)
	TrackingDomains(ctx context.Context, orgID string, after *core.After, limit int) ([]channels.TrackingDomain, error)
}

// Rates returns how many messages of an organization were sent, bounced and complained
// about in a window of time.
type Rates interface {
	Rates(ctx context.Context, orgID string, w core.Window) (sent, bounced, complained int64, err error)
}

// Account implements the operations account_get and sending_readiness_check, the onboarding
// steps and the requests for production access.
type Account struct {
	Config
	overviews overviews
}

// New returns an Account.
func New(cfg Config) *Account {
	return &Account{Config: cfg, overviews: overviews{byOrg: map[string]*answer{}}}
}

// Operations returns the operations account_get and sending_readiness_check, in the order
// of the operation catalogue.
func (a *Account) Operations() []core.Operation {
	return []core.Operation{a.accountGet(), a.sendingReadinessCheck()}
}

// overview returns the state of the organization's sending account. A successful answer is
// cached for a minute, a failure is not cached.
func (a *Account) overview(ctx context.Context, orgID string) (sending.Overview, error) {
	return a.overviews.get(ctx, orgID, a.Clock, a.Account.Overview)
}

// SendRate returns how many messages a second the organization's sending account accepts, at
// most a minute old; 0 means any number.
func (a *Account) SendRate(ctx context.Context, orgID string) (float64, error) {
	found, err := a.overview(ctx, orgID)
	return float64(max(0, found.MaxSendRate)), err
}

// Forget discards the cached state of the organization's sending account. Call it after the
// connection to the account has changed.
func (a *Account) Forget(orgID string) { a.overviews.forget(orgID) }

// ForgetAll discards the cached states of all sending accounts.
func (a *Account) ForgetAll() { a.overviews.forgetAll() }
