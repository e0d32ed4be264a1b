package dashboard

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// fieldApply is in the form that carries out what the one before only showed.
const fieldApply = "apply"

// keyScopesPage is what the form of a key's scopes shows, and the page that says
// what would change.
type keyScopesPage struct {
	Form           form
	Key            keyRow
	Areas          []scopeArea
	Chosen         core.Scopes
	Added, Removed []scopeChoice
}

func (d *Dashboard) showKeyScopes(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	if k, ok := d.workingKeyOf(w, r, v); ok {
		d.keyScopesForm(w, r, v, k, k.Scopes, nil)
	}
}

func (d *Dashboard) keyScopesForm(w http.ResponseWriter, r *http.Request, v access.Visitor, k access.APIKey, chosen core.Scopes, refused error) {
	status := http.StatusOK
	if refused != nil {
		status = core.AsError(refused).HTTPStatus()
	}
	row := newKeyRow(k, d.Clock())
	d.show(w, r, v, status, screen{page: "key_scopes", title: "Scopes of " + row.Name, problem: problemOf(refused), data: keyScopesPage{
		Form: formTo(v, row.Path+"/scopes"), Key: row, Areas: scopeChoices(chosen, k.Scopes, v.Member),
	}})
}

// editKeyScopes first shows what would change, and carries it out when the form
// of that page comes.
func (d *Dashboard) editKeyScopes(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	k, ok := d.workingKeyOf(w, r, v)
	if !ok {
		return
	}
	chosen := chosenScopes(r)
	if err := checkGiven(chosen, k.Scopes, v.Member); err != nil {
		d.keyScopesForm(w, r, v, k, chosen, err)
		return
	}
	row, known := newKeyRow(k, d.Clock()), core.NewScopes(chosen.Strings()...)
	added, removed := scopeRows(without(known, k.Scopes)), scopeRows(without(k.Scopes, known))
	if len(added)+len(removed) == 0 {
		noticed(w, row.Path, "same")
		return
	}
	if !r.PostForm.Has(fieldApply) {
		d.show(w, r, v, http.StatusOK, screen{page: "key_review", title: "Scopes of " + row.Name, data: keyScopesPage{
			Form: formTo(v, row.Path+"/scopes"), Key: row, Chosen: known, Added: added, Removed: removed,
		}})
		return
	}
	err := d.withKey(r.Context(), v, k.ID, func(ctx context.Context, m access.Member, k access.APIKey) error {
		if err := checkGiven(chosen, k.Scopes, m); err != nil {
			return err
		}
		_, err := d.lifecycle(v).EditKeyScopes(ctx, access.ActorOf(v.User.ID), v.Org.ID, k.ID, chosen)
		return err
	})
	if err != nil {
		d.fail(w, r, v, err)
		return
	}
	noticed(w, row.Path, "scopes")
}

// without is what set has and other lacks.
func without(set, other core.Scopes) core.Scopes {
	return slices.DeleteFunc(slices.Clone(set), other.Has)
}

// withKey does something with a key that nobody else changes meanwhile, so that
// what is checked about it is still so; see managingCredentials.
func (d *Dashboard) withKey(ctx context.Context, v access.Visitor, id string, do func(context.Context, access.Member, access.APIKey) error) error {
	err := d.managingCredentials(ctx, v, func(ctx context.Context, m access.Member) error {
		k, err := d.Keys.APIKey(ctx, v.Org.ID, id)
		if err != nil {
			return err
		}
		return do(ctx, m, k)
	})
	d.Principals.Forget(id) // once more: the task inside did it before the commit
	return err
}

// keyDecision is what a page shows that asks before something is done with a key.
type keyDecision struct {
	Form form
	Key  keyRow
}

func (d *Dashboard) showRotateKey(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	d.askAboutKey(w, r, v, "rotate", "Rotate")
}

func (d *Dashboard) rotateKey(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	old, ok := d.keyOf(w, r, v)
	if !ok {
		return
	}
	var next access.APIKey
	var secret string
	err := d.withKey(r.Context(), v, old.ID, func(ctx context.Context, m access.Member, k access.APIKey) error {
		if err := checkHandedOut(k.Scopes, m); err != nil {
			return err
		}
		var err error
		next, secret, err = d.lifecycle(v).RotateKey(ctx, access.ActorOf(v.User.ID), v.Org.ID, k.ID)
		return err
	})
	if err != nil {
		d.fail(w, r, v, err)
		return
	}
	d.showKeySecret(w, r, v, keySecret{
		Key: newKeyRow(next, d.Clock()), Secret: secret, OldUntil: next.CreatedAt.Add(access.Grace).UTC().Format(momentLayout),
	})
}

func (d *Dashboard) showRevokeKey(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	if k, ok := d.keyOf(w, r, v); ok && d.Frame.Confirm(w, r, v, keysPath+"/"+k.ID+"/revoke") {
		d.askAboutKey(w, r, v, "revoke", "Revoke")
	}
}

func (d *Dashboard) revokeKey(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	k, ok := d.keyOf(w, r, v)
	if !ok || !d.Frame.Confirm(w, r, v, keysPath+"/"+k.ID+"/revoke") {
		return
	}
	if _, err := d.lifecycle(v).RevokeKey(r.Context(), access.ActorOf(v.User.ID), v.Org.ID, k.ID); err != nil {
		d.fail(w, r, v, err)
		return
	}
	noticed(w, keysPath, "revoked")
}

// askAboutKey shows the page that says what a step does before it is taken.
func (d *Dashboard) askAboutKey(w http.ResponseWriter, r *http.Request, v access.Visitor, step, verb string) {
	k, ok := d.workingKeyOf(w, r, v)
	if !ok {
		return
	}
	row := newKeyRow(k, d.Clock())
	d.show(w, r, v, http.StatusOK, screen{page: "key_" + step, title: fmt.Sprintf("%s %s?", verb, row.Name), data: keyDecision{
		Form: formTo(v, row.Path+"/"+step), Key: row,
	}})
}
