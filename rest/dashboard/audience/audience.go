package audience

import (
	"context"
	"embed"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

//go:embed pages/*.html
var templates embed.FS

// Lists searches static lists and their members.
type Lists interface {
	// Search returns a page of the lists with the text query in their name or key, with the
	// number of all matches.
	Search(ctx context.Context, orgID, query, cursor string, limit int) (core.Page[lists.List], error)
	// SearchMembers returns a page of the members of a list whose address contains the text
	// part.
	SearchMembers(ctx context.Context, orgID, listID, part, cursor string, limit int) (core.Page[lists.Member], error)
}

// Segments says which segments test a list or a topic.
type Segments interface {
	// PreviewRedefinition returns the segments that would no longer compile after the
	// change.
	PreviewRedefinition(ctx context.Context, orgID string, what segments.Redefinition) ([]segments.Affected, error)
}

// Config configures the pages of this package. All fields are required.
type Config struct {
	Lists    Lists
	Segments Segments
}

// Audience has the pages about lists and topics; see dashboard.Room.
type Audience struct {
	Config
	*frame.Pages
}

// New returns the pages of this package. It fails if the templates cannot be read.
func New(f *frame.Frame, cfg Config) (*Audience, error) {
	pages, err := f.Pages(templates)
	if err != nil {
		return nil, err
	}
	return &Audience{cfg, pages}, nil
}

// The page handlers, grouped by what their pages show. Each has the fields and methods of
// Audience.
type (
	listHandlers  struct{ *Audience }
	topicHandlers struct{ *Audience }
)

// Routes returns the routes of all pages of this package.
func (a *Audience) Routes() []frame.Route {
	return slices.Concat(listHandlers{a}.routes(), topicHandlers{a}.routes())
}

// routes returns the routes of the pages about lists. Members of a list are contacts, so
// changing them needs the permission to manage contacts.
func (h listHandlers) routes() []frame.Route {
	view, manage := members.MayViewLists, members.MayManageLists
	return []frame.Route{
		{Path: "/lists", Needs: view, Get: h.showLists},
		{Path: "/lists/new", Needs: manage, Get: h.showNewList, Post: h.createList},
		{Path: "/lists/{id}", Needs: view, Get: h.showList},
		{Path: "/lists/{id}/edit", Needs: manage, Get: h.showEditList, Post: h.editList},
		{Path: "/lists/{id}/delete", Needs: manage, Get: h.showDeleteList, Post: h.deleteList},
		{Path: "/lists/{id}/members/add", Needs: members.MayManageContacts, Post: h.addMember},
		{Path: "/lists/{id}/members/remove", Needs: members.MayManageContacts, Post: h.removeMember},
	}
}

// routes returns the routes of the pages about topics. A topic may have any name of letters
// and digits, so paths with a name have a segment of their own.
func (h topicHandlers) routes() []frame.Route {
	view, manage := members.MayViewContacts, members.MayManageContacts
	return []frame.Route{
		{Path: "/topics", Needs: view, Get: h.showTopics},
		{Path: "/topics/new", Needs: manage, Get: h.showNewTopic, Post: h.createTopic},
		{Path: "/topics/by-name/{name}", Needs: view, Get: h.showTopic},
		{Path: "/topics/by-name/{name}/edit", Needs: manage, Get: h.showEditTopic, Post: h.editTopic},
		{Path: "/topics/by-name/{name}/delete", Needs: manage, Get: h.showDeleteTopic, Post: h.deleteTopic},
	}
}
