package inboxes

import (
	"net/http"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// editPage is the data of the form that changes an inbox.
type editPage struct {
	Form   frame.Form
	Once   string
	Label  string
	Shared bool
}

// showEdit shows the form that changes an inbox.
func (h *Inboxes) showEdit(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	var i inbox
	if h.ReadNamed(w, r, v, "inboxes_get", &i) {
		h.editForm(w, r, v, i, nil)
	}
}

// editForm writes the form with the values of i. refused is the error of the submitted form,
// or nil.
func (h *Inboxes) editForm(w http.ResponseWriter, r *http.Request, v people.Visitor, i inbox, refused error) {
	problem, status := labels.Correctable(refused)
	if refused != nil && problem == "" {
		h.Fail(w, r, v, refused)
		return
	}
	h.Show(w, r, v, status, frame.Screen{Page: "inbox_edit", Title: "Edit inbox", Problem: problem, Head: frame.Head{Parents: []frame.Link{i.link()}}, Data: editPage{
		Form: frame.FormTo(v, i.path()+"/edit"), Once: core.NewID(), Label: i.Label, Shared: i.Visibility == shared,
	}})
}

// edit changes the label and the visibility of an inbox.
func (h *Inboxes) edit(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	once, ok := h.ReadOnceID(w, r, v)
	var i inbox
	if !ok || !h.ReadNamed(w, r, v, "inboxes_get", &i) {
		return
	}
	i.Label, i.Visibility = strings.TrimSpace(r.PostForm.Get("label")), "private"
	if r.PostForm.Has("shared") {
		i.Visibility = shared
	}
	_, err := h.Do(r, v, frame.OperationCall{Operation: "inboxes_update", Arguments: map[string]any{"id": i.ID, "label": i.Label, "visibility": i.Visibility}, Once: once}, nil)
	if err != nil {
		h.editForm(w, r, v, i, err)
		return
	}
	frame.RedirectWithNotice(w, i.path(), "edited")
}

// deletePage is the data of the page that asks before an inbox is deleted.
type deletePage struct {
	Form     frame.Form
	Once     string
	Back     string
	Messages int
}

// showDelete asks before an inbox is deleted.
func (h *Inboxes) showDelete(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	var i inbox
	if !h.ReadNamed(w, r, v, "inboxes_get", &i) {
		return
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "inbox_delete", Title: "Delete " + i.Address + "?", Head: frame.Head{Parents: []frame.Link{i.link()}}, Data: deletePage{
		Form: frame.FormTo(v, i.path()+"/delete"), Once: core.NewID(), Back: i.path(), Messages: i.MessageCount,
	}})
}

// delete ends an inbox.
func (h *Inboxes) delete(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	once, ok := h.ReadOnceID(w, r, v)
	if !ok {
		return
	}
	if _, err := h.Do(r, v, frame.OperationCall{Operation: "inboxes_delete", Arguments: map[string]any{"id": r.PathValue("id")}, Once: once}, nil); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, Path, "deleted")
}

// pullLink is a pull link of an inbox.
type pullLink struct {
	ID        string     `json:"id"`
	Prefix    string     `json:"prefix"`
	Label     string     `json:"label"`
	CreatedAt time.Time  `json:"created_at"`
	RevokedAt *time.Time `json:"revoked_at"`
	PullURL   string     `json:"pull_url"`
}

// linkRow is a pull link in the list. Revoke is nil for a revoked one.
type linkRow struct {
	Prefix, Label string
	Created       frame.When
	Revoke        *frame.Form
	Once          string
}

// linksPage is the data of the page of the pull links of an inbox.
type linksPage struct {
	Form frame.Form
	Once string
	Rows []linkRow
}

// showLinks lists the pull links of an inbox.
func (h *Inboxes) showLinks(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	h.listLinks(w, r, v, nil)
}

// listLinks writes the page of the pull links. refused is the error of the form, or nil.
func (h *Inboxes) listLinks(w http.ResponseWriter, r *http.Request, v people.Visitor, refused error) {
	problem, status := labels.Correctable(refused)
	if refused != nil && problem == "" {
		h.Fail(w, r, v, refused)
		return
	}
	var i inbox
	if !h.ReadNamed(w, r, v, "inboxes_get", &i) {
		return
	}
	var found struct {
		Data []pullLink `json:"data"`
	}
	if !h.ReadNamed(w, r, v, "inbox_pull_tokens_list", &found) {
		return
	}
	data := linksPage{Form: frame.FormTo(v, i.path()+"/links"), Once: core.NewID()}
	for _, l := range found.Data {
		row := linkRow{Prefix: l.Prefix, Label: frame.PlainName(l.Label), Created: h.When(l.CreatedAt), Once: core.NewID()}
		if l.RevokedAt == nil {
			form := frame.FormTo(v, i.path()+"/links/"+l.ID+"/revoke")
			row.Revoke = &form
		}
		data.Rows = append(data.Rows, row)
	}
	h.Show(w, r, v, status, frame.Screen{Page: "links", Title: "Pull links", Notice: notices.NoticeOf(r), Problem: problem, Data: data, Head: frame.Head{
		Parents: []frame.Link{i.link()}, Lead: "A pull link reads the messages of this inbox, without signing in, until the inbox ends.",
	}})
}

// addLink creates a pull link and shows it once.
func (h *Inboxes) addLink(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	once, ok := h.ReadOnceID(w, r, v)
	var i inbox
	if !ok || !h.ReadNamed(w, r, v, "inboxes_get", &i) {
		return
	}
	arguments := map[string]any{"id": i.ID}
	if label := strings.TrimSpace(r.PostForm.Get("label")); label != "" {
		arguments["label"] = label
	}
	var made pullLink
	if _, err := h.Do(r, v, frame.OperationCall{Operation: "inbox_pull_tokens_create", Arguments: arguments, Once: once}, &made); err != nil {
		h.listLinks(w, r, v, err)
		return
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "inbox_created", Title: "Pull link created", Head: frame.Head{Parents: []frame.Link{i.link()}}, Data: createdPage{
		Path: i.path(), PullURL: made.PullURL, Expires: h.When(i.ExpiresAt),
	}})
}

// revokeLink revokes a pull link.
func (h *Inboxes) revokeLink(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	once, ok := h.ReadOnceID(w, r, v)
	if !ok {
		return
	}
	arguments := map[string]any{"id": r.PathValue("id"), "token_id": r.PathValue("link")}
	if _, err := h.Do(r, v, frame.OperationCall{Operation: "inbox_pull_tokens_revoke", Arguments: arguments, Once: once}, nil); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, Path+"/"+r.PathValue("id")+"/links", "revoked")
}
