package contacts

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	audience "github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// NewPath is the path of the form for a new contact.
const NewPath = Path + "/new"

// showNewContact shows the form for a new contact.
func (h editHandlers) showNewContact(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	h.editForm(w, r, v, audience.Contact{}, nil, nil)
}

// createContact creates a contact and redirects to its page.
func (h editHandlers) createContact(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	once, ok := h.ReadOnceID(w, r, v)
	if !ok {
		return
	}
	arguments := h.readChoices(r, v).argumentsOf(changesIn(r.PostForm))
	arguments["email"] = r.PostForm.Get("email")
	var created struct {
		ID string `json:"id"`
	}
	_, err := h.Do(r, v, frame.OperationCall{Operation: "contacts_create", Arguments: arguments, Once: once}, &created)
	switch {
	case err == nil:
		frame.RedirectWithNotice(w, pathOf(created.ID), "created")
	case core.AsError(err).Code == core.CodeConflict:
		h.editForm(w, r, v, audience.Contact{}, r.PostForm, core.Conflict("A contact with this address exists.", "Search for it in the list of contacts and edit it."))
	default:
		h.editForm(w, r, v, audience.Contact{}, r.PostForm, err)
	}
}

// showEditContact shows the form with the values of a contact.
func (h editHandlers) showEditContact(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if c, ok := h.contactToEdit(w, r, v); ok {
		h.editForm(w, r, v, c, nil, nil)
	}
}

// contactToEdit returns the contact of the path with its present consent. If it returns
// false, it has written an answer.
func (h editHandlers) contactToEdit(w http.ResponseWriter, r *http.Request, v people.Visitor) (audience.Contact, bool) {
	c, err := h.Directory.Contact(r.Context(), v.Org.ID, r.PathValue("id"))
	if err != nil {
		h.Fail(w, r, v, err)
		return c, false
	}
	if c.Status == audience.Archived {
		frame.SeeOther(w, pathOf(c.ID))
		return c, false
	}
	_ = contactHandlers(h).readConsent(r, v, &c) // without an answer, the form has the choices of the last sync
	return c, true
}

// editContact writes the values that the visitor changed, in one call, and redirects to the
// page of the contact.
func (h editHandlers) editContact(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	once, ok := h.ReadOnceID(w, r, v)
	if !ok {
		return
	}
	c, ok := h.contactToEdit(w, r, v)
	if !ok {
		return
	}
	changes := changesIn(r.PostForm)
	if len(changes) == 0 {
		frame.RedirectWithNotice(w, pathOf(c.ID), "unchanged")
		return
	}
	arguments := h.readChoices(r, v).argumentsOf(changes)
	operation := "contacts_update"
	arguments["email"] = c.Email
	email, moved := changes["email"]
	external, bound := changes["external_id"]
	if moved || bound {
		operation = "contacts_upsert_by_external_id"
		arguments["id"], arguments["external_id"] = c.ID, external
		if moved {
			arguments["email"] = email
		}
		if !bound && c.ExternalID != nil {
			arguments["external_id"] = *c.ExternalID
		}
		if change, is := arguments["lists"].(map[string]any); is {
			arguments["lists"] = listsAfter(c, change)
		}
	}
	if _, err := h.Do(r, v, frame.OperationCall{Operation: operation, Arguments: arguments, Once: once}, nil); err != nil {
		h.editForm(w, r, v, c, r.PostForm, err)
		return
	}
	frame.RedirectWithNotice(w, pathOf(c.ID), "changed")
}

// listsAfter returns the ids of all lists that the contact is on after the change.
func listsAfter(c audience.Contact, change map[string]any) []string {
	add, _ := change["add"].([]string)
	remove, _ := change["remove"].([]string)
	after := slices.Clone(add)
	for _, l := range c.Lists {
		if !slices.Contains(remove, l.ID) {
			after = append(after, l.ID)
		}
	}
	return after
}

// editForm writes the form. typed has the values of a refused form, and refused its error;
// both are nil for a form with the values of the contact.
func (h editHandlers) editForm(w http.ResponseWriter, r *http.Request, v people.Visitor, c audience.Contact, typed url.Values, refused error) {
	shown, status := frame.Screen{Page: "contact_edit", Title: "New contact"}, http.StatusOK
	if refused != nil {
		if shown.Problem = refusalOf(refused); shown.Problem == "" {
			h.Fail(w, r, v, refused)
			return
		}
		status = core.AsError(refused).HTTPStatus()
	}
	data := h.readChoices(r, v).fieldsOf(c, typed)
	data.Form, data.Once, data.Back = frame.FormTo(v, NewPath), core.NewID(), Path
	shown.Head = frame.Head{Title: "New contact"}
	if !data.New {
		address := frame.PlainName(c.Email)
		data.Form, data.Back = frame.FormTo(v, pathOf(c.ID)+"/edit"), pathOf(c.ID)
		shown.Title = "Edit " + address
		shown.Head = frame.Head{Title: "Edit contact", Parents: []frame.Link{{Path: data.Back, Name: address}}}
	}
	shown.Data = data
	h.Show(w, r, v, status, shown)
}
