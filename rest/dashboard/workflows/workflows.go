package workflows

import (
	"embed"

	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/rest/dashboard/actors"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

//go:embed pages/*.html
var pages embed.FS

// Path is the path of the list of workflows. The other pages are below it. HeldPath is that of
// the page with the messages of all workflows that wait for a person.
const (
	Path     = frame.Path + "/workflows"
	HeldPath = Path + "/held"
)

const (
	newPath   = Path + "/new"
	limitPath = Path + "/limit"
)

// The pages of other rooms to which these pages link.
const (
	contactsPath  = frame.Path + "/contacts"
	templatesPath = frame.Path + "/templates"
)

// Config configures the pages of this package. All fields are required.
type Config struct {
	Editor *workflows.Editor
	Actors actors.Actors
}

// Room has the pages about workflows; see dashboard.Room.
type Room struct {
	Config
	*frame.Pages
}

// New returns the pages of this package. It fails if the templates cannot be read.
func New(f *frame.Frame, cfg Config) (*Room, error) {
	own, err := f.Pages(pages)
	if err != nil {
		return nil, err
	}
	return &Room{cfg, own}, nil
}

// The page handlers, grouped by what their pages do. Each has the fields and methods of Room.
type (
	sourcePages struct{ *Room }
	runPages    struct{ *Room }
	heldPages   struct{ *Room }
	changePages struct{ *Room }
)

// maxForm is the maximum size of the form with a source, in bytes. A browser writes up to six
// bytes for each byte of the source, so that a source that is somewhat too long is shown again
// with the reason.
const maxForm = 1 << 20

// Routes returns the routes of all pages of this package.
func (h *Room) Routes() []frame.Route {
	view, manage, approve := members.MayViewCampaigns, members.MayManageCampaigns, members.MayApproveSends
	source, run, held, change := sourcePages{h}, runPages{h}, heldPages{h}, changePages{h}
	return []frame.Route{
		{Path: "/workflows", Needs: view, Get: h.showWorkflows},
		{Path: "/workflows/new", Needs: manage, Get: source.showNew, Post: source.createWorkflow, MaxForm: maxForm},
		{Path: "/workflows/limit", Needs: manage, Get: change.showLimit, Post: change.saveLimit},
		{Path: "/workflows/held", Needs: view, Get: held.showAll},
		{Path: "/workflows/{id}", Needs: view, Get: h.showOverview},
		{Path: "/workflows/{id}/source", Needs: view, AlsoNeeds: []members.Permission{manage}, Get: source.showSource, Post: source.saveSource, MaxForm: maxForm},
		{Path: "/workflows/{id}/versions", Needs: view, Get: h.showVersions},
		{Path: "/workflows/{id}/compare", Needs: view, Get: h.showCompare},
		{Path: "/workflows/{id}/try", Needs: view, AlsoNeeds: []members.Permission{members.MayViewContacts}, Get: h.showTry},
		{Path: "/workflows/{id}/past", Needs: view, Get: h.showPast},
		{Path: "/workflows/{id}/runs", Needs: view, Get: run.showRuns},
		{Path: "/workflows/{id}/runs/{run}", Needs: view, Get: run.showRun},
		{Path: "/workflows/{id}/held", Needs: view, AlsoNeeds: []members.Permission{approve}, Get: held.showHeld, Post: held.decide},
		{Path: "/workflows/{id}/settings", Needs: view, AlsoNeeds: []members.Permission{manage}, Get: change.showSettings, Post: change.saveSettings},
		{Path: "/workflows/{id}/activate", Needs: manage, Get: change.showActivate, Post: change.activate},
		{Path: "/workflows/{id}/{change}", Needs: manage, Get: change.showChange, Post: change.changeStatus},
	}
}

// notices are the messages that the pages show after a change, by their name in the address.
var notices = frame.Notices{
	"created":   "The draft is saved. It reaches no contact before you activate it.",
	"saved":     "The draft is saved. It reaches no contact before you activate it.",
	"unchanged": "The newest version has this source already. Nothing was changed.",
	"activated": "The workflow is active. Contacts enter it from now on.",
	"paused":    "The workflow is paused. No contact enters, and no run moves.",
	"resumed":   "The workflow is active again.",
	"archived":  "The workflow is archived. Its active runs end within a minute.",
	"settings":  "The settings are saved.",
	"limit":     "The limit is saved.",
	"approved":  "The messages are approved. They are sent within a minute, unless the send window or the consent of a contact is against it.",
	"skipped":   "The messages are skipped. The runs go on without them.",
	"cancelled": "The messages are cancelled, and the runs have ended.",
	"decided":   "Another person decided about some of these messages before. Your decision holds for the others.",
}
