package contacts

import (
	"context"
	"embed"
	"time"

	"github.com/mailhelm/mailhelm/core"
	audience "github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/rest/dashboard/actors"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// Path is the path of the list of contacts.
const Path = frame.Path + "/contacts"

// Paths of pages to which the pages of this package link.
const (
	importPath   = Path + "/import"
	listsPath    = frame.Path + "/lists"
	personsPath  = frame.Path + "/personal-data" // of rest/dashboard/persons
	messagesPath = frame.Path + "/messages"
	segmentsPath = frame.Path + "/segments"
	topicsPath   = frame.Path + "/topics"
)

//go:embed pages/*.html
var templates embed.FS

// Directory finds contacts of an organization.
type Directory interface {
	// Search returns one page of the contacts that match. It is an expensive read.
	Search(ctx context.Context, orgID string, s audience.Search) (audience.Found, error)
	// Export returns the next contacts that match, with the keys of their lists, and the
	// position after them, nil at the end. It is an expensive read.
	Export(ctx context.Context, orgID string, s audience.Search, after *core.After) ([]audience.Contact, *core.After, error)
	// Contact returns a contact, with its consent as of the last sync. It fails with
	// core.CodeNotFound if there is none.
	Contact(ctx context.Context, orgID, id string) (audience.Contact, error)
	// VisitorID returns the contact's visitor id, or "" if it has none.
	VisitorID(ctx context.Context, orgID, contactID string) (string, error)
}

// Standings says in which segments a contact is, and why. StandingsOf is an expensive read;
// see [segments.Standings].
type Standings interface {
	StandingsOf(ctx context.Context, orgID, contactID string, from, limit int) ([]segments.Standing, int, error)
}

// Memberships returns the times since which a contact is on its lists, by the lists' ids.
type Memberships interface {
	Since(ctx context.Context, orgID, contactID string) (map[string]time.Time, error)
}

// Config configures the pages of this package. All fields are required.
type Config struct {
	Directory   Directory
	Standings   Standings
	Memberships Memberships
	// Actors names who changed a contact's consent.
	Actors actors.Actors
}

// Contacts has the pages about contacts; see dashboard.Room.
type Contacts struct {
	Config
	*frame.Pages
}

// New returns the pages of this package. It fails if the templates cannot be read.
func New(f *frame.Frame, cfg Config) (*Contacts, error) {
	pages, err := f.Pages(templates)
	if err != nil {
		return nil, err
	}
	return &Contacts{cfg, pages}, nil
}

// The page handlers, grouped by what their pages show. Each has the fields and methods of
// Contacts.
type (
	listHandlers    struct{ *Contacts }
	contactHandlers struct{ *Contacts }
	editHandlers    struct{ *Contacts }
)

// Routes returns the routes of all pages of this package.
func (c *Contacts) Routes() []frame.Route {
	list, one, edit := listHandlers{c}, contactHandlers{c}, editHandlers{c}
	view, manage := members.MayViewContacts, members.MayManageContacts
	return []frame.Route{
		{Path: "/contacts", Needs: view, Get: list.showContacts},
		{Path: "/contacts/export", Needs: view, Post: list.exportContacts},
		{Path: "/contacts/new", Needs: manage, Get: edit.showNewContact, Post: edit.createContact},
		{Path: "/contacts/{id}", Needs: view, Get: one.showContact},
		{Path: "/contacts/{id}/activities", Needs: view, Get: one.showActivities},
		{Path: "/contacts/{id}/segments", Needs: view, Get: one.showSegments},
		{Path: "/contacts/{id}/messages", Needs: view, Get: one.showMessages},
		{Path: "/contacts/{id}/edit", Needs: manage, Get: edit.showEditContact, Post: edit.editContact},
		{Path: "/contacts/{id}/archive", Needs: manage, Get: edit.showArchive, Post: edit.archiveContact},
		{Path: "/contacts/{id}/activate", Needs: manage, Post: edit.activateContact},
	}
}

// pathOf returns the path of a contact's page.
func pathOf(id string) string { return Path + "/" + id }
