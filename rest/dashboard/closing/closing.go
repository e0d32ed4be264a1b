package closing

import (
	"context"
	"embed"
	"net/http"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/closing"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

//go:embed pages/*.html
var templates embed.FS

// Path is the path of the page that deletes the organization.
const Path = frame.Path + "/delete-organization"

// pageTime is how long writing one page of an export to the visitor may take.
const pageTime = 30 * time.Second

// Config configures the pages of this package. All fields are required.
type Config struct {
	Organizations closing.Organizations
	Rows          closing.ExportStore
	// Definitions returns the files of a bundle with the definitions of an organization.
	Definitions func(ctx context.Context, orgID string) (map[string][]byte, error)
}

// Room has the pages; see dashboard.Room.
type Room struct {
	Config
	*frame.Pages
}

// New returns the pages of this package. It fails if the templates cannot be read.
func New(f *frame.Frame, cfg Config) (*Room, error) {
	own, err := f.Pages(templates)
	if err != nil {
		return nil, err
	}
	return &Room{cfg, own}, nil
}

// Routes returns the routes of the pages.
func (h *Room) Routes() []frame.Route {
	manage := members.MayManageOrg
	return []frame.Route{
		{Path: "/delete-organization", Needs: manage, Get: h.showDelete, Post: h.deleteOrg},
		{Path: "/delete-organization/export", Needs: manage, Post: h.exportOrg},
		{Path: "/organization-deleted", Get: h.showDeleted, Deleted: true},
		{Path: "/organization-deleted/restore", Post: h.restoreOrg, Deleted: true},
	}
}

// deletePage is the data of the page that deletes the organization.
type deletePage struct {
	Delete, Export frame.Form
	Org            core.Org
	Days           int
}

// deletedPage is the data of the page of a deleted organization.
type deletedPage struct {
	Restore frame.Form
	Org     core.Org
	// Waits is true until EraseAt, the time from which the data is erased.
	Waits   bool
	EraseAt frame.When
	Owner   bool
}

// identified reports whether the visitor is an owner who proved the identity lately. If it
// returns false, it has written the response.
func (h *Room) identified(w http.ResponseWriter, r *http.Request, v people.Visitor) bool {
	if v.Member.Role != members.Owner {
		h.Refuse(w, r, v, http.StatusForbidden, "Owners only", "Only an owner can delete the organization. Ask an owner.")
		return false
	}
	return h.Site.Identify(w, r, v, Path)
}

// showDelete shows what the deletion does, and the forms.
func (h *Room) showDelete(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if h.identified(w, r, v) {
		h.form(w, r, v, http.StatusOK, "")
	}
}

func (h *Room) form(w http.ResponseWriter, r *http.Request, v people.Visitor, status int, problem string) {
	h.Show(w, r, v, status, frame.Screen{Page: "delete", Title: "Delete organization", Problem: problem, Data: deletePage{
		Delete: frame.FormTo(v, Path), Export: frame.FormTo(v, Path+"/export"), Org: v.Org, Days: int(core.DeletionWait / (24 * time.Hour)),
	}})
}

// deleteOrg deletes the organization of an owner who typed its slug, and redirects to the page
// of deleted organizations.
func (h *Room) deleteOrg(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if !h.identified(w, r, v) {
		return
	}
	if typed := strings.TrimSpace(r.PostForm.Get("slug")); typed != v.Org.Slug {
		h.form(w, r, v, http.StatusUnprocessableEntity, "The typed slug is not the slug of this organization. Type "+v.Org.Slug+".")
		return
	}
	if _, err := h.Organizations.Delete(r.Context(), access.ActorOf(v.User.ID), v.Org.ID); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.SeeOther(w, frame.DeletedPath)
}

// exportOrg sends the data of the organization as a zip archive. Each page of rows is an
// expensive read of its own. If a page cannot be read, the connection is closed, so that the
// browser reports an incomplete file.
func (h *Room) exportOrg(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if !h.identified(w, r, v) {
		return
	}
	files, err := h.Definitions(r.Context(), v.Org.ID)
	if err == nil {
		err = h.TransactorWith(v, members.MayManageOrg).InTx(r.Context(), func(ctx context.Context) error {
			return h.Record(ctx, v, "org.exported", v.Org.ID, nil)
		})
	}
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.BeginZip(w, v.Org.Slug+"-"+h.Clock().UTC().Format(frame.DateLayout)+".zip")
	extend := func(string, int) {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(pageTime)) //nolint:forbidigo // a deadline of the connection; without support, the server's own deadline applies
	}
	extend("", 0)
	_, err = closing.Export{
		Rows: expensiveRows{h.Rows, h.Frame}, Clock: h.Clock, Progress: extend,
		Definitions: func(context.Context, string) (map[string][]byte, error) { return files, nil },
	}.Write(r.Context(), w, v.Org)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
}

// showDeleted shows until when the organization can be restored. For other organizations it
// redirects to the overview.
func (h *Room) showDeleted(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if !v.Org.IsDeleted() {
		frame.SeeOther(w, frame.Path)
		return
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "deleted", Title: "This organization was deleted", Data: deletedPage{
		Restore: frame.FormTo(v, frame.DeletedPath+"/restore"), Org: v.Org, Waits: h.Clock().Before(v.Org.EraseAt()),
		EraseAt: h.When(v.Org.EraseAt()), Owner: v.Member.Role == members.Owner,
	}})
}

// restoreOrg restores the organization and redirects to the overview.
func (h *Room) restoreOrg(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if !h.Site.Identify(w, r, v, frame.DeletedPath) {
		return
	}
	if _, err := h.Organizations.Restore(r.Context(), access.ActorOf(v.User.ID), v.Org.ID); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.SeeOther(w, frame.Path)
}
