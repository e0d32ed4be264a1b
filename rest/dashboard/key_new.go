package dashboard

import (
	"context"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// newKeyPage is what the form of a new key shows.
type newKeyPage struct {
	Form        form
	Once        string // see onceOf
	Here        string
	Name        string
	Environment core.Environment
	Areas       []scopeArea
}

func (d *Dashboard) showNewKey(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	if !d.Frame.Confirm(w, r, v, keysPath+"/new") {
		return
	}
	d.newKeyForm(w, r, v, access.NewKey{Environment: core.Live, Scopes: preset(r, v.Member)}, nil)
}

// newKeyForm shows the form as it is filled in; refused is what was wrong with
// it, or nil.
func (d *Dashboard) newKeyForm(w http.ResponseWriter, r *http.Request, v access.Visitor, n access.NewKey, refused error) {
	status := http.StatusOK
	if refused != nil {
		status = core.AsError(refused).HTTPStatus()
	}
	here := keysPath + "/new"
	d.show(w, r, v, status, screen{page: "key_new", title: "New API key", problem: problemOf(refused), data: newKeyPage{
		Form: formTo(v, here), Once: core.NewID(), Here: here, Name: n.Name, Environment: n.Environment, Areas: scopeChoices(n.Scopes, nil, v.Member),
	}})
}

func (d *Dashboard) createKey(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	if !d.Frame.Confirm(w, r, v, keysPath+"/new") {
		return
	}
	id, ok := d.onceOf(w, r, v)
	if !ok {
		return
	}
	n := access.NewKey{
		ID: id, OrgID: v.Org.ID, Name: r.PostForm.Get(fieldName), Environment: core.Environment(r.PostForm.Get(fieldEnvironment)),
		Scopes: chosenScopes(r),
	}
	var k access.APIKey
	var secret string
	err := d.managingCredentials(r.Context(), v, func(ctx context.Context, m access.Member) error {
		if err := checkGiven(n.Scopes, nil, m); err != nil {
			return err
		}
		var err error
		k, secret, err = d.lifecycle(v).CreateKey(ctx, access.ActorOf(v.User.ID), n)
		return err
	})
	switch {
	case err == nil:
		d.showKeySecret(w, r, v, keySecret{Key: newKeyRow(k, d.Clock()), Secret: secret})
	case sentBefore(err):
		d.refuseAgain(w, r, v, keysPath)
	case problemOf(err) != "":
		d.newKeyForm(w, r, v, n, err)
	default:
		d.fail(w, r, v, err)
	}
}

// keySecret is what the page shows that shows a key's secret, once.
type keySecret struct {
	Key    keyRow
	Secret string
	// Try is an address that any valid key may read.
	Try string
	// OldUntil is until when the key works that this one replaces, or "".
	OldUntil string
}

func (d *Dashboard) showKeySecret(w http.ResponseWriter, r *http.Request, v access.Visitor, s keySecret) {
	s.Try = d.APIURL + "/v1/_scopes"
	d.show(w, r, v, http.StatusOK, screen{page: "key_secret", title: "Your new API key", data: s})
}
