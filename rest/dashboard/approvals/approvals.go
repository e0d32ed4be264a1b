package approvals

import (
	"context"
	"embed"
	"net/url"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/approvals"
	"github.com/mailhelm/mailhelm/core/approving"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/rest/dashboard/actors"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

//go:embed pages/*.html
var templates embed.FS

// Path is the path of the page with all approvals. PolicyPath is that of the policies.
const (
	Path       = frame.Path + "/approvals"
	PolicyPath = frame.Path + "/send-policy"
)

// PathOf returns the path of the page of an approval.
func PathOf(id string) string { return Path + "/" + url.PathEscape(id) }

// Desk is where people decide about approvals; see [approving.Desk].
type Desk interface {
	Find(ctx context.Context, orgID string, waiting bool, cursor string, limit int) (core.Page[approvals.Approval], error)
	Case(ctx context.Context, orgID, id string) (approving.Case, error)
	Approve(ctx context.Context, orgID, userID, id string, shown approving.Shown) (approving.Outcome, error)
	Reject(ctx context.Context, orgID, userID, id, reason string) error
}

// Grants lists the grants with which people gave applications access.
type Grants interface {
	// Grants returns the active grants that match the filter.
	Grants(ctx context.Context, orgID string, f access.GrantFilter) ([]access.Grant, error)
}

// Clients reads OAuth clients, including revoked ones.
type Clients interface {
	// Client returns a client of any organization by its public client id.
	Client(ctx context.Context, clientID string) (access.Client, error)
}

// Held counts the messages of workflows that wait for a person.
type Held interface {
	// CountHeld returns the numbers by the id of the workflow.
	CountHeld(ctx context.Context, orgID string) (map[string]int, error)
}

// Config configures the pages of this package. All fields are required.
type Config struct {
	Desk     Desk
	Store    approvals.PolicyStore
	Policies approvals.Policies
	Limits   approvals.Limits
	// Stops reads the stop of all mail and the daily limits.
	Stops   handover.LimitStore
	Grants  Grants
	Clients Clients
	Actors  actors.Actors
	// Wake lets the dispatcher of this process look for broadcasts at once.
	Wake func()
	// Held counts the messages of workflows that wait. HeldPath is the page with them.
	Held     Held
	HeldPath string
}

// Approvals has the pages of this package; see dashboard.Room.
type Approvals struct {
	Config
	*frame.Pages
}

// New returns the pages of this package. It fails if the templates cannot be read.
func New(f *frame.Frame, cfg Config) (*Approvals, error) {
	pages, err := f.Pages(templates)
	if err != nil {
		return nil, err
	}
	return &Approvals{cfg, pages}, nil
}

// The page handlers, grouped by what their pages show. Each has the fields and methods of
// Approvals.
type (
	approvalHandlers struct{ *Approvals }
	policyHandlers   struct{ *Approvals }
	stopHandlers     struct{ *Approvals }
)

// Routes returns the routes of all pages of this package.
func (a *Approvals) Routes() []frame.Route {
	return slices.Concat(approvalHandlers{a}.routes(), policyHandlers{a}.routes(), stopHandlers{a}.routes())
}

// routes returns the routes of the pages about approvals.
func (h approvalHandlers) routes() []frame.Route {
	return []frame.Route{
		{Path: "/approvals", Needs: members.MayViewCampaigns, Get: h.showApprovals},
		{Path: "/approvals/{id}", Needs: members.MayViewCampaigns, AlsoNeeds: []members.Permission{members.MayApproveSends}, Get: h.showApproval},
		{Path: "/approvals/{id}/mail", Needs: members.MayViewCampaigns, Get: h.showMail},
		{Path: "/approvals/{id}/approve", Needs: members.MayApproveSends, Post: h.approve},
		{Path: "/approvals/{id}/reject", Needs: members.MayApproveSends, Post: h.reject},
	}
}

// routes returns the routes of the pages about policies and daily limits.
func (h policyHandlers) routes() []frame.Route {
	return []frame.Route{
		{Path: "/send-policy", Needs: members.MayManageOrg, Get: h.showPolicies, Post: h.savePolicy},
		{Path: "/send-policy/{application}", Needs: members.MayManageOrg, Get: h.showApplication, Post: h.saveApplication},
	}
}

// routes returns the route of the page that stops all mail.
func (h stopHandlers) routes() []frame.Route {
	return []frame.Route{{Path: "/stop-mail", Needs: members.MayManageCampaigns, Get: h.showStop, Post: h.changeStop}}
}
