package home

import (
	"context"
	"embed"
	"log/slog"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/account"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/suppression"
	"github.com/mailhelm/mailhelm/rest/dashboard/actors"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

//go:embed pages/*.html
var templates embed.FS

// Keys lists an organization's API keys, including expired and revoked ones.
type Keys interface {
	APIKeysOf(ctx context.Context, orgID string) ([]access.APIKey, error)
}

// Clients reads OAuth clients, including revoked ones.
type Clients interface {
	// ClientsOf returns the clients that an organization registered.
	ClientsOf(ctx context.Context, orgID string) ([]access.Client, error)
}

// Grants lists the grants with which people gave applications access.
type Grants interface {
	// Grants returns the active grants that match the filter.
	Grants(ctx context.Context, orgID string, f access.GrantFilter) ([]access.Grant, error)
}

// Members lists the members of an organization.
type Members interface {
	Members(ctx context.Context, orgID string) ([]members.Member, error)
}

// Factors reads the second factors that a person has set up.
type Factors interface {
	FactorsOf(ctx context.Context, userID string) (people.Factors, error)
}

// Reports summarizes the results of sending.
type Reports interface {
	// Overview returns the figures of the last days. It masks recipients unless unmasked is
	// true.
	Overview(ctx context.Context, orgID string, days int, unmasked bool) (reports.Overview, error)
}

// Account reads the state of the sending account. It succeeds even if the account does not
// answer.
type Account interface {
	Standing(ctx context.Context, org core.Org) (account.Standing, error)
}

// Syncs reads how the latest syncs with the sending account ended.
type Syncs interface {
	SyncResults(ctx context.Context, orgID string) ([]sending.SyncResult, error)
}

// Silence finds the channels that stopped reporting events; see core/messages/silence.
type Silence interface {
	SilentChannels(ctx context.Context, orgID string) ([]string, error)
}

// Undeliverable counts the addresses that became undeliverable; see core/suppression.
type Undeliverable interface {
	Growth(ctx context.Context, orgID string) (suppression.Growth, error)
}

// Approvals counts the sends that wait for the approval of a person.
type Approvals interface {
	CountWaiting(ctx context.Context, orgID string) (int, error)
}

// Receiving lists the receiving domains of an organization.
type Receiving interface {
	Domains(ctx context.Context, orgID string) ([]receiving.Domain, error)
}

// AuditLog reads the audit log.
type AuditLog interface {
	FindAudit(ctx context.Context, orgID string, f access.AuditFilter) ([]access.AuditEvent, error)
}

// Links are the paths of the pages to which the overview links. Activity is the page with
// the calls of assistants.
type Links struct{ Keys, NewKey, Clients, Grants, Members, Activity string }

// Config configures the overview. All fields are required.
type Config struct {
	Keys    Keys
	Clients Clients
	Grants  Grants
	Members Members
	Factors Factors
	Reports Reports
	Account Account
	Syncs   Syncs
	Audit   AuditLog
	// Actors names the programs that changed something today.
	Actors actors.Actors
	// Silence, Undeliverable and Receiving find what needs attention.
	Silence       Silence
	Undeliverable Undeliverable
	Receiving     Receiving
	Approvals     Approvals
	Links         Links
	// APIURL, MCPURL and AuthURL are the public origins of the API, the agent endpoint and
	// the OAuth server. The overview shows addresses on them.
	APIURL, MCPURL, AuthURL string
	Clock                   core.Clock
	// Log records why a part of the overview could not be read.
	Log *slog.Logger
}

// Home has the overview page of the dashboard; see dashboard.Room.
type Home struct {
	Config
	*frame.Pages
}

// New returns the overview page. It fails if the templates cannot be read.
func New(f *frame.Frame, cfg Config) (*Home, error) {
	pages, err := f.Pages(templates)
	if err != nil {
		return nil, err
	}
	return &Home{cfg, pages}, nil
}

// problemOf logs why a part of the overview cannot be read. It returns the text with which
// the part says so.
func (h *Home) problemOf(r *http.Request, v people.Visitor, part string, err error) string {
	if !core.IsCallerGone(r.Context(), err) {
		h.Log.ErrorContext(r.Context(), "a part of the overview cannot be read", "part", part, "org_id", v.Org.ID, "cause", err)
	}
	return core.AsError(err).Message
}

// Routes returns the route of the overview.
func (h *Home) Routes() []frame.Route {
	return []frame.Route{{Path: "", Get: h.showOverview}}
}
