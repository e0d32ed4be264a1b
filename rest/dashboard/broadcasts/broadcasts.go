package broadcasts

import (
	"context"
	"embed"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/tags"
	"github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/rest/dashboard/actors"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

//go:embed pages/*.html
var pages embed.FS

// Path is the path of the list of broadcasts. The other pages are below it.
const Path = frame.Path + "/broadcasts"

const newPath = Path + "/new"

// The pages of other rooms to which these pages link.
const (
	contactsPath  = frame.Path + "/contacts"
	messagesPath  = frame.Path + "/messages"
	templatesPath = frame.Path + "/templates"
	topicsPath    = frame.Path + "/topics"
	accountPath   = frame.Path + "/account"
	approvalsPath = frame.Path + "/approvals"
)

// Broadcasts searches broadcasts and changes them as no operation does; see
// [broadcasts.Broadcasts]. Each change takes part in the transaction of its context.
type Broadcasts interface {
	Search(ctx context.Context, orgID string, f broadcasts.Filter, cursor string) (core.Page[broadcasts.Record], error)
	Results(ctx context.Context, orgID string, in broadcasts.ListResultsIn, part string) (core.Page[broadcasts.Result], error)
	Edit(ctx context.Context, orgID, id string, revision int, d broadcasts.Definition) (broadcasts.Broadcast, error)
	Reschedule(ctx context.Context, orgID, id string, revision int, at *time.Time) (broadcasts.Broadcast, error)
	Cancel(ctx context.Context, orgID, id string) (broadcasts.Broadcast, error)
	Pause(ctx context.Context, orgID, id string) (broadcasts.Broadcast, error)
	Resume(ctx context.Context, orgID, id string) (broadcasts.Broadcast, error)
	SetRate(ctx context.Context, orgID, id string, perMinute int) (broadcasts.Broadcast, error)
	Split(ctx context.Context, c *core.Call, orgID, id string, percent int) (broadcasts.Broadcast, error)
}

// Store reads broadcasts with their inline content, revision and share, which no operation
// returns.
type Store interface {
	Broadcast(ctx context.Context, orgID, id string) (broadcasts.Broadcast, error)
	CountByState(ctx context.Context, orgID string) (map[broadcasts.State]int, error)
}

// Audience counts and samples the members of an audience.
type Audience interface {
	Reach(ctx context.Context, orgID string, t broadcasts.Target, topic string) (broadcasts.Reach, error)
	Samples(ctx context.Context, orgID string, t broadcasts.Target, topic string, limit int) ([]string, error)
}

// Outcomes counts the filtered recipients of a broadcast by tier.
type Outcomes interface {
	Tiers(ctx context.Context, orgID, sendID string) (map[handover.Tier]int, error)
}

// Approvals reads the decisions of people about sends.
type Approvals interface {
	// Latest returns the latest approval of each of the broadcasts that has one.
	Latest(ctx context.Context, orgID string, broadcastIDs []string) (map[string]broadcasts.Approval, error)
}

// Tags reads the tags of broadcasts.
type Tags interface {
	OfBroadcast(ctx context.Context, orgID, broadcastID string) ([]tags.Ref, error)
}

// Topics reads the stored topics of an organization.
type Topics interface {
	Topics(ctx context.Context, orgID string) ([]topics.Topic, error)
}

// Templates finds templates by a part of their name, slug or subject.
type Templates interface {
	Search(ctx context.Context, orgID, query, cursor string, limit int) (core.Page[templates.Template], error)
}

// Config configures the pages of this package. All fields are required.
type Config struct {
	Broadcasts Broadcasts
	Store      Store
	Audience   Audience
	// Audiences finds the names of lists and segments.
	Audiences broadcasts.Audiences
	Outcomes  Outcomes
	Approvals Approvals
	Tags      Tags
	Topics    Topics
	Templates Templates
	Actors    actors.Actors
}

// Room has the pages about broadcasts; see dashboard.Room.
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
	composePages struct{ *Room }
	sendPages    struct{ *Room }
	changePages  struct{ *Room }
)

// maxForm is the maximum size of the form with the content, in bytes. A browser writes up to
// six bytes for each byte of the content, so the limit is far above the 500 KB that inline
// HTML may have: a content that is somewhat too long is then shown again with the reason.
const maxForm = 4 << 20

// Routes returns the routes of all pages of this package.
func (h *Room) Routes() []frame.Route {
	view, manage := members.MayViewCampaigns, members.MayManageCampaigns
	choices := []members.Permission{members.MayViewLists, members.MayViewSegments, members.MayViewContent, members.MayViewSending}
	compose, send, change := composePages{h}, sendPages{h}, changePages{h}
	return []frame.Route{
		{Path: "/broadcasts", Needs: view, Get: h.showBroadcasts},
		{Path: "/broadcasts/new", Needs: manage, AlsoNeeds: choices, Get: compose.showNew, Post: compose.createBroadcast, MaxForm: maxForm},
		{Path: "/broadcasts/{id}", Needs: view, Get: h.showBroadcast},
		{Path: "/broadcasts/{id}/preview", Needs: view, Get: h.showPreview},
		{Path: "/broadcasts/{id}/edit", Needs: manage, AlsoNeeds: choices, Get: compose.showEdit, Post: compose.editBroadcast, MaxForm: maxForm},
		{Path: "/broadcasts/{id}/test", Needs: manage, Get: send.showTest, Post: send.sendTest},
		{Path: "/broadcasts/{id}/send", Needs: manage, Get: send.showSend, Post: send.sendBroadcast},
		{Path: "/broadcasts/{id}/split", Needs: manage, Post: change.splitBroadcast},
		{Path: "/broadcasts/{id}/reschedule", Needs: manage, Post: change.rescheduleBroadcast},
		{Path: "/broadcasts/{id}/rate", Needs: manage, Post: change.setRate},
		{Path: "/broadcasts/{id}/delete", Needs: manage, Get: change.showDelete, Post: change.deleteBroadcast},
		{Path: "/broadcasts/{id}/{change}", Needs: manage, Get: change.showChange, Post: change.changeState},
	}
}

// notices are the messages that the pages show after a change, by their name in the address.
var notices = frame.Notices{
	"created":     "The draft is saved. Look at the preview, send a test, and then send it.",
	"saved":       "The changes are saved.",
	"split":       "The broadcast is divided. This draft goes to the first part, and the other draft to the rest.",
	"sending":     "The send has begun.",
	"scheduled":   "The broadcast is scheduled.",
	"waiting":     "The broadcast waits for an approval.",
	"resumed":     "The broadcast goes on.",
	"unscheduled": "The broadcast is a draft again.",
	"cancelled":   "The broadcast is cancelled.",
	"rescheduled": "The broadcast has a new time.",
	"rate":        "The rate is changed.",
	"deleted":     "The broadcast is deleted.",
}
