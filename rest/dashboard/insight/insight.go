package insight

import (
	"context"
	"embed"
	"slices"

	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/core/suppression"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

//go:embed pages/*.html
var templates embed.FS

// Reports summarizes the results of an organization's sending in the last days.
type Reports interface {
	// Overview returns the figures of the last days, for the given number of days. It masks
	// the addresses of recipients unless unmasked is true.
	Overview(ctx context.Context, orgID string, days int, unmasked bool) (reports.Overview, error)
}

// Undeliverable reads and changes an organization's list of undeliverable addresses, and
// the rules by which addresses are listed. Exclude and SetRules run in the transaction of
// ctx.
type Undeliverable interface {
	Search(ctx context.Context, orgID string, f suppression.EntryFilter) ([]suppression.Entry, bool, error)
	Entry(ctx context.Context, orgID, id string) (suppression.Entry, error)
	Exclude(ctx context.Context, orgID, id, reason string) (suppression.Entry, error)
	Rules(ctx context.Context, orgID string) (suppression.Rules, error)
	// SetRules stores wanted as the organization's rules for undeliverable addresses, and
	// returns the previous rules.
	SetRules(ctx context.Context, orgID string, wanted suppression.Rules) (suppression.Rules, error)
}

// Config configures the pages of this package. All fields are required.
type Config struct {
	Reports       Reports
	Undeliverable Undeliverable
}

// Insight has the pages about the results of sending; see
// dashboard.Room.
type Insight struct {
	Config
	*frame.Pages
}

// New returns the pages of this package. It fails if the templates cannot be read.
func New(f *frame.Frame, cfg Config) (*Insight, error) {
	pages, err := f.Pages(templates)
	if err != nil {
		return nil, err
	}
	return &Insight{cfg, pages}, nil
}

// The page handlers, grouped by what their pages show. Each has the fields and methods of
// Insight.
type (
	healthHandlers        struct{ *Insight }
	reportHandlers        struct{ *Insight }
	suppressionHandlers   struct{ *Insight }
	undeliverableHandlers struct{ *Insight }
)

// Routes returns the routes of all pages of this package.
func (i *Insight) Routes() []frame.Route {
	return slices.Concat(healthHandlers{i}.routes(), reportHandlers{i}.routes(), suppressionHandlers{i}.routes(), undeliverableHandlers{i}.routes())
}

// routes returns the route of the page about sending health.
func (h healthHandlers) routes() []frame.Route {
	return []frame.Route{{Path: "/health", Needs: members.MayViewAnalytics, Get: h.showHealth}}
}

// routes returns the routes of the page with the reports and of its file. Both need the
// same permission.
func (h reportHandlers) routes() []frame.Route {
	return []frame.Route{
		{Path: "/reports", Needs: members.MayViewAnalytics, Get: h.showReports},
		{Path: "/reports/csv", Needs: members.MayViewAnalytics, Get: h.downloadReport},
	}
}

// routes returns the route of the page with the account's suppression list.
func (h suppressionHandlers) routes() []frame.Route {
	return []frame.Route{{Path: "/suppressions", Needs: members.MayViewSuppression, Get: h.showSuppressions}}
}

// routes returns the routes of the pages about undeliverable addresses. Viewing, excluding
// an address and changing the rules need different permissions.
func (h undeliverableHandlers) routes() []frame.Route {
	view := members.MayViewUndeliverable
	return []frame.Route{
		{Path: "/undeliverable", Needs: view, Get: h.showUndeliverable},
		{Path: "/undeliverable/rules", Needs: view, Get: h.showRules},
		{Path: "/undeliverable/rules/save", Needs: members.MayConfigureUndelivered, Post: h.saveRules},
		{Path: "/undeliverable/{id}", Needs: view, Get: h.showUndeliverableAddress},
		{Path: "/undeliverable/{id}/exclude", Needs: members.MayManageUndeliverable, Post: h.excludeAddress},
	}
}
