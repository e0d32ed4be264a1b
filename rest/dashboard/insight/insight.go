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

// Reports summarizes the last days of an organization's mail.
type Reports interface {
	// Overview masks recipients unless the reader may see them unmasked.
	Overview(ctx context.Context, orgID string, days int, unmasked bool) (reports.Overview, error)
}

// Undeliverable reads and changes the list of undeliverable addresses and its rules.
// Exclude and SetRules take part in the transaction of their context.
type Undeliverable interface {
	Search(ctx context.Context, orgID string, f suppression.EntryFilter) ([]suppression.Entry, bool, error)
	Entry(ctx context.Context, orgID, id string) (suppression.Entry, error)
	Exclude(ctx context.Context, orgID, id, reason string) (suppression.Entry, error)
	Rules(ctx context.Context, orgID string) (suppression.Rules, error)
	// SetRules returns the rules before the change.
	SetRules(ctx context.Context, orgID string, wanted suppression.Rules) (suppression.Rules, error)
}

// Config is what the room needs. All members are required.
type Config struct {
	Reports       Reports
	Undeliverable Undeliverable
	// Expensive runs a read of many rows in one of the few slots for such reads. It waits
	// for a slot and fails with core.CodeOverloaded without one.
	Expensive func(ctx context.Context, orgID string, read func(context.Context) error) error
}

// Insight is the room with the pages about sending health and undeliverable addresses.
type Insight struct {
	Config
	*frame.Pages
}

// New returns the room.
func New(f *frame.Frame, cfg Config) (*Insight, error) {
	pages, err := f.Pages(templates)
	if err != nil {
		return nil, err
	}
	return &Insight{cfg, pages}, nil
}

// The handlers by their subject. Each shares the room.
type (
	healthHandlers        struct{ *Insight }
	undeliverableHandlers struct{ *Insight }
)

// Routes returns the room's route table.
func (i *Insight) Routes() []frame.Route {
	return slices.Concat(healthHandlers{i}.routes(), undeliverableHandlers{i}.routes())
}

// routes returns the route of sending health.
func (h healthHandlers) routes() []frame.Route {
	return []frame.Route{{Path: "/health", Needs: members.MayViewAnalytics, Get: h.showHealth}}
}

// routes returns the routes of undeliverable addresses. Reading and changing need different
// permissions.
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
