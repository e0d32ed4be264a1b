package developers

import (
	"context"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// newKeyPage is the data of the page with the form for a new API key.
type newKeyPage struct {
	Form        frame.Form
	Once        string // the id that the new key gets; see frame.ReadOnceID
	Here        string
	Name        string
	Environment core.Environment
	Areas       []scopeArea
	Roles       frame.RoleChoices
}

// showNewKey shows the form for a new key. The query parameter role selects scopes in
// advance.
func (h keyHandlers) showNewKey(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if !h.Confirm(w, r, v, NewKeyPath) {
		return
	}
	h.newKeyForm(w, r, v, access.NewKey{Environment: core.Live, Scopes: h.startingScopes(r, nil, v.Member)}, nil)
}

// newKeyForm writes the form for a new key with the values of n. refused is the error of
// the submitted form, or nil.
func (h keyHandlers) newKeyForm(w http.ResponseWriter, r *http.Request, v people.Visitor, n access.NewKey, refused error) {
	status := http.StatusOK
	if refused != nil {
		status = core.AsError(refused).HTTPStatus()
	}
	here := NewKeyPath
	h.Show(w, r, v, status, frame.Screen{Page: "key_new", Title: "New API key", Problem: labels.Problem(refused), Data: newKeyPage{
		Form: frame.FormTo(v, here), Once: core.NewID(), Here: here, Name: n.Name, Environment: n.Environment, Areas: h.scopeChoices(n.Scopes, nil, v.Member),
		Roles: h.roleChoices(here, v.Member),
	}})
}

// createKey creates an API key and shows its secret once. A refused form is shown again
// with its values.
func (h keyHandlers) createKey(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if !h.Confirm(w, r, v, NewKeyPath) {
		return
	}
	id, ok := h.ReadOnceID(w, r, v)
	if !ok {
		return
	}
	n := access.NewKey{
		ID: id, OrgID: v.Org.ID, Name: r.PostForm.Get(fieldName), Environment: core.Environment(r.PostForm.Get(fieldEnvironment)),
		Scopes: chosenScopes(r),
	}
	var k access.APIKey
	var secret string
	err := h.manageCredentials(r.Context(), v, func(ctx context.Context, m members.Member) error {
		if err := checkGiven(n.Scopes, nil, m); err != nil {
			return err
		}
		var err error
		k, secret, err = h.lifecycle(v).CreateKey(ctx, access.ActorOf(v.User.ID), n)
		return err
	})
	switch {
	case err == nil:
		h.showKeySecret(w, r, v, keySecret{Key: newKeyRow(k, h.Clock()), Secret: secret})
	case frame.IsRepeated(err):
		h.RefuseRepeated(w, r, v, KeysPath, true)
	case labels.Problem(err) != "":
		h.newKeyForm(w, r, v, n, err)
	default:
		h.Fail(w, r, v, err)
	}
}

// keySecret is the data of the page that shows a new key's secret. The page can be shown
// only once.
type keySecret struct {
	Key    keyRow
	Secret string
	// Try is the URL of an API request that every valid key may make, so that the visitor
	// can try the key.
	Try string
	// OldUntil is the time until which the replaced key still works; "" if the new key
	// replaces no other.
	OldUntil string
}

// showKeySecret writes the page with the secret of a key. The secret is not stored, so the
// page cannot be shown again.
func (h keyHandlers) showKeySecret(w http.ResponseWriter, r *http.Request, v people.Visitor, s keySecret) {
	s.Try = h.APIURL + "/v1/_scopes"
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "key_secret", Title: "Your new API key", Data: s})
}
