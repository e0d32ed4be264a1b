package contacts

import (
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	audience "github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// archivePage is the data of the page that asks before a contact is archived.
type archivePage struct {
	Form  frame.Form
	Once  string
	Back  string
	Lists []listRow
	// Asked is what the operation says that it does, with the token of the confirming call.
	// Both are "" unless the operation asks.
	Asked, Token string
}

// showArchive asks before a contact is archived.
func (h editHandlers) showArchive(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if c, ok := h.contactToEdit(w, r, v); ok {
		h.askArchive(w, r, v, c, nil, nil)
	}
}

// askArchive writes the page that asks before the contact is archived.
func (h editHandlers) askArchive(w http.ResponseWriter, r *http.Request, v people.Visitor, c audience.Contact, asked *guardrails.ConfirmationRequired, refused error) {
	address, status := frame.PlainName(c.Email), http.StatusOK
	data := archivePage{Form: frame.FormTo(v, pathOf(c.ID)+"/archive"), Once: core.NewID(), Back: pathOf(c.ID)}
	for _, l := range c.Lists {
		data.Lists = append(data.Lists, listRow{Name: frame.PlainName(l.Name), Key: l.Key})
	}
	if asked != nil {
		data.Asked, data.Token = asked.Message, asked.Token
	}
	problem := ""
	if refused != nil {
		if problem = refusalOf(refused); problem == "" {
			h.Fail(w, r, v, refused)
			return
		}
		status = core.AsError(refused).HTTPStatus()
	}
	h.Show(w, r, v, status, frame.Screen{
		Page: "contact_archive", Title: "Archive " + address, Problem: problem,
		Head: frame.Head{Title: "Archive contact", Parents: []frame.Link{{Path: data.Back, Name: address}}}, Data: data,
	})
}

// archiveContact archives a contact and redirects to its page.
func (h editHandlers) archiveContact(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	once, ok := h.ReadOnceID(w, r, v)
	if !ok {
		return
	}
	c, ok := h.contactToEdit(w, r, v)
	if !ok {
		return
	}
	asked, err := h.Do(r, v, frame.OperationCall{
		Operation: "contacts_archive", Arguments: map[string]any{"email": c.Email}, Once: once, Confirmation: r.PostForm.Get("confirmation"),
	}, nil)
	if err != nil || asked != nil {
		h.askArchive(w, r, v, c, asked, err)
		return
	}
	frame.RedirectWithNotice(w, pathOf(c.ID), "archived")
}

// activateContact makes an archived contact active again, with its attributes and earlier
// opt-outs.
func (h editHandlers) activateContact(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	once, ok := h.ReadOnceID(w, r, v)
	if !ok {
		return
	}
	c, err := h.Directory.Contact(r.Context(), v.Org.ID, r.PathValue("id"))
	if err == nil && c.Status == audience.Archived {
		_, err = h.Do(r, v, frame.OperationCall{Operation: "contacts_upsert", Arguments: map[string]any{"email": c.Email}, Once: once}, nil)
	}
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, pathOf(c.ID), "activated")
}
