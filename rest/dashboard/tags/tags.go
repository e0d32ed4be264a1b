package tags

import (
	"context"
	"embed"
	"net/http"

	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/tags"
	stored "github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

//go:embed pages/*.html
var pages embed.FS

// Path is the path of the list of tags. The other pages are below it, except the forms with
// the tags of a template and of a broadcast.
const Path = frame.Path + "/tags"

const (
	newPath        = Path + "/new"
	templatesPath  = frame.Path + "/templates"
	broadcastsPath = frame.Path + "/broadcasts"
)

// Tags reads and changes tags. Each method fails as in core/tags.
type Tags interface {
	All(ctx context.Context, orgID string) ([]tags.Tag, error)
	Create(ctx context.Context, orgID string, w tags.Wording) (tags.Tag, error)
	Edit(ctx context.Context, orgID, id string, w tags.Wording) (before, after tags.Tag, err error)
	Delete(ctx context.Context, orgID, id string) (tags.Tag, error)
	OfTemplate(ctx context.Context, orgID, templateID string) ([]tags.Ref, error)
	SetOfTemplate(ctx context.Context, orgID, templateID string, tagIDs []string) error
	OfBroadcast(ctx context.Context, orgID, broadcastID string) ([]tags.Ref, error)
	SetOfBroadcast(ctx context.Context, orgID, broadcastID string, tagIDs []string) error
}

// Templates finds templates.
type Templates interface {
	// Record returns the template with the slug. It fails with core.CodeNotFound for an
	// unknown slug.
	Record(ctx context.Context, orgID, slug string) (stored.Template, error)
}

// Broadcasts finds broadcasts.
type Broadcasts interface {
	// Broadcast returns the broadcast with the id, and locks it in a transaction. It fails
	// with core.CodeNotFound for an unknown id.
	Broadcast(ctx context.Context, orgID, id string) (broadcasts.Broadcast, error)
}

// Config configures the pages of this package. All fields are required.
type Config struct {
	Tags       Tags
	Templates  Templates
	Broadcasts Broadcasts
}

// Room has the pages about tags; see dashboard.Room.
type Room struct {
	Config
	*frame.Pages
}

// New returns the pages of this package. It fails if the templates of the pages cannot be
// read.
func New(f *frame.Frame, cfg Config) (*Room, error) {
	own, err := f.Pages(pages)
	if err != nil {
		return nil, err
	}
	return &Room{cfg, own}, nil
}

// editPermissions are the permissions of which one is enough to change tags.
var editPermissions = []members.Permission{members.MayManageContent, members.MayManageCampaigns}

// Routes returns the routes of all pages of this package. The handlers that change tags
// check the permission themselves, because one of two is enough.
func (h *Room) Routes() []frame.Route {
	return []frame.Route{
		{Path: "/tags", Needs: members.MayViewContent, Get: h.showTags},
		{Path: "/tags/new", AlsoNeeds: editPermissions, Get: h.showNew, Post: h.createTag},
		{Path: "/tags/{id}/edit", AlsoNeeds: editPermissions, Get: h.showEdit, Post: h.editTag},
		{Path: "/tags/{id}/delete", AlsoNeeds: editPermissions, Get: h.showDelete, Post: h.deleteTag},
		{Path: "/templates/{slug}/tags", AlsoNeeds: editPermissions, Get: h.handleOne(h.template, h.showOf), Post: h.handleOne(h.template, h.setOf)},
		{Path: "/broadcasts/{id}/tags", Needs: members.MayViewCampaigns, AlsoNeeds: editPermissions, Get: h.handleOne(h.broadcast, h.showOf), Post: h.handleOne(h.broadcast, h.setOf)},
	}
}

// MayEdit reports whether the visitor may change tags, and set those of templates and
// broadcasts.
func MayEdit(v people.Visitor) bool { return editPermission(v) != "" }

// editPermission returns the permission with which the visitor may change tags, or "".
func editPermission(v people.Visitor) members.Permission {
	for _, p := range editPermissions {
		if v.Member.Has(p) {
			return p
		}
	}
	return ""
}

// admit reports whether the visitor may change tags. Otherwise it has written a refusal.
func (h *Room) admit(w http.ResponseWriter, r *http.Request, v people.Visitor) bool {
	if MayEdit(v) {
		return true
	}
	h.Refuse(w, r, v, http.StatusForbidden, "Permission missing", "You need the permission "+string(members.MayManageContent)+" or "+
		string(members.MayManageCampaigns)+" in "+v.Org.Name+". Ask a member who may manage members.")
	return false
}

// labels has, for each form field, the words that name the field in the error text of a
// refused form.
var labels = frame.Labels{"name": "The name", "color": "The color"}

// notices are the messages that the list shows after a change, by their name in the address.
var notices = frame.Notices{"created": "The tag is created.", "saved": "The tag is saved.", "deleted": "The tag is deleted."}
