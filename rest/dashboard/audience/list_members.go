package audience

import (
	"net/http"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// addMember puts the contact with the typed address on the list. An address without a
// contact gets one.
func (h listHandlers) addMember(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	l, ok := h.readList(w, r, v)
	if !ok {
		return
	}
	typed := strings.TrimSpace(r.PostForm.Get(fieldEmail))
	notice, err := h.join(r, v, l, typed)
	if err == nil {
		frame.RedirectWithNotice(w, l.Path(), notice)
		return
	}
	problem, status := labels.Correctable(err)
	if core.IsConflict(err) {
		problem = core.AsError(err).Message + " Activate the contact on its page, then add it."
	}
	if problem == "" {
		h.Fail(w, r, v, err)
		return
	}
	h.showListWith(w, r, v, l, typed, problem, status)
}

// join puts the contact with the address on the list, and creates the contact if there is
// none. It returns the name of the notice. Both writes may be repeated.
func (h listHandlers) join(r *http.Request, v people.Visitor, l list, email string) (string, error) {
	if _, ok := core.CanonicalEmail(email); !ok {
		return "", core.Invalid(fieldEmail, "is not an email address")
	}
	join := frame.OperationCall{Operation: "contacts_set_list_membership", Arguments: map[string]any{fieldContact: email, "add": []string{l.ID}}}
	_, err := h.Do(r, v, join, nil)
	if !core.IsNotFound(err) {
		return "added", err
	}
	create := frame.OperationCall{Operation: "contacts_upsert", Arguments: map[string]string{fieldEmail: email}}
	if _, err := h.Do(r, v, create, nil); err != nil {
		return "", err
	}
	_, err = h.Do(r, v, join, nil)
	return "new", err
}

// removeMember removes a contact from the list and redirects to the page of the list.
func (h listHandlers) removeMember(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	l, ok := h.readList(w, r, v)
	if !ok {
		return
	}
	arguments := map[string]any{fieldContact: r.PostForm.Get(fieldContact), "remove": []string{l.ID}}
	if _, err := h.Do(r, v, frame.OperationCall{Operation: "contacts_set_list_membership", Arguments: arguments}, nil); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, l.Path(), "removed")
}
