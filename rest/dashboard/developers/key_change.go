package developers

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// fieldApply is the name of a form field that only the review page sends. With it,
// editKeyScopes applies the change of scopes.
const fieldApply = "apply"

// keyScopesPage is the data of the form for a key's scopes, and of the page on which the
// visitor reviews the change.
type keyScopesPage struct {
	Form           frame.Form
	Key            keyRow
	Areas          []scopeArea
	Roles          frame.RoleChoices
	Chosen         core.Scopes
	Added, Removed []scopeChoice
}

// showKeyScopes shows the form for changing the scopes of an API key. The query parameter
// role selects the scopes of a role.
func (h keyHandlers) showKeyScopes(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if k, ok := h.workingKeyOf(w, r, v); ok {
		h.keyScopesForm(w, r, v, k, h.startingScopes(r, k.Scopes, v.Member), nil)
	}
}

// keyScopesForm writes the form for a key's scopes, in which the scopes in chosen are
// marked. refused is the error of the submitted form, or nil.
func (h keyHandlers) keyScopesForm(w http.ResponseWriter, r *http.Request, v people.Visitor, k access.APIKey, chosen core.Scopes, refused error) {
	status := http.StatusOK
	if refused != nil {
		status = core.AsError(refused).HTTPStatus()
	}
	row := newKeyRow(k, h.Clock())
	h.Show(w, r, v, status, frame.Screen{Page: "key_scopes", Title: "Scopes of " + row.Name, Head: underKey(row), Problem: labels.Problem(refused), Data: keyScopesPage{
		Form: frame.FormTo(v, row.Path+"/scopes"), Key: row, Areas: h.scopeChoices(chosen, k.Scopes, v.Member),
		Roles: h.roleChoices(row.Path+"/scopes", v.Member),
	}})
}

// editKeyScopes handles both forms of a change of scopes. After the form with the scopes,
// it shows a page for reviewing the change. After the form on the review page, it stores
// the scopes.
func (h keyHandlers) editKeyScopes(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	k, ok := h.workingKeyOf(w, r, v)
	if !ok {
		return
	}
	chosen := chosenScopes(r)
	if err := checkGiven(chosen, k.Scopes, v.Member); err != nil {
		h.keyScopesForm(w, r, v, k, chosen, err)
		return
	}
	row, known := newKeyRow(k, h.Clock()), core.NewScopes(chosen.Strings()...)
	added, removed := scopeRows(without(known, k.Scopes)), scopeRows(without(k.Scopes, known))
	if len(added)+len(removed) == 0 {
		frame.RedirectWithNotice(w, row.Path, "same")
		return
	}
	if !r.PostForm.Has(fieldApply) {
		h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "key_review", Title: "Change these scopes?", Head: underKey(row), Data: keyScopesPage{
			Form: frame.FormTo(v, row.Path+"/scopes"), Key: row, Chosen: known, Added: added, Removed: removed,
		}})
		return
	}
	err := h.withKey(r.Context(), v, k.ID, func(ctx context.Context, m members.Member, k access.APIKey) error {
		if err := checkGiven(chosen, k.Scopes, m); err != nil {
			return err
		}
		_, err := h.lifecycle(v).EditKeyScopes(ctx, access.ActorOf(v.User.ID), v.Org.ID, k.ID, chosen)
		return err
	})
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, row.Path, "scopes")
}

// without returns the scopes of set that are not in other.
func without(set, other core.Scopes) core.Scopes {
	return slices.DeleteFunc(slices.Clone(set), other.Has)
}

// withKey reads an API key and calls the function do with it, in a transaction in which the
// visitor may manage credentials. The read locks the key, so that the key cannot change
// before the commit.
func (h keyHandlers) withKey(ctx context.Context, v people.Visitor, id string, do func(context.Context, members.Member, access.APIKey) error) error {
	err := h.manageCredentials(ctx, v, func(ctx context.Context, m members.Member) error {
		k, err := h.Keys.APIKey(ctx, v.Org.ID, id)
		if err != nil {
			return err
		}
		return do(ctx, m, k)
	})
	// The change inside the transaction has removed the key from the cache. A request may
	// have cached the old key again before the commit, so it is removed once more.
	h.Lifecycle.Principals.Forget(id)
	return err
}

// keyDecision is the data of a page that asks for confirmation before a key is rotated or
// revoked.
type keyDecision struct {
	Form frame.Form
	Key  keyRow
}

// showRotateKey shows the page that asks for confirmation before a key is rotated.
func (h keyHandlers) showRotateKey(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	h.askAboutKey(w, r, v, "rotate", "Rotate")
}

// rotateKey replaces a key with a new key and shows the new secret once. The old key works
// for 24 more hours.
func (h keyHandlers) rotateKey(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	old, ok := h.keyOf(w, r, v)
	if !ok {
		return
	}
	var next access.APIKey
	var secret string
	err := h.withKey(r.Context(), v, old.ID, func(ctx context.Context, m members.Member, k access.APIKey) error {
		if err := checkHandedOut(k.Scopes, m); err != nil {
			return err
		}
		var err error
		next, secret, err = h.lifecycle(v).RotateKey(ctx, access.ActorOf(v.User.ID), v.Org.ID, k.ID)
		return err
	})
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	h.showKeySecret(w, r, v, keySecret{
		Key: newKeyRow(next, h.Clock()), Secret: secret, OldUntil: next.CreatedAt.Add(access.Grace).UTC().Format(frame.MomentLayout),
	})
}

// showRevokeKey shows the page that asks for confirmation before a key is revoked. If the
// organization requires a recent second factor, the page that asks for the second factor
// comes first.
func (h keyHandlers) showRevokeKey(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if k, ok := h.keyOf(w, r, v); ok && h.Confirm(w, r, v, KeysPath+"/"+k.ID+"/revoke") {
		h.askAboutKey(w, r, v, "revoke", "Revoke")
	}
}

// revokeKey revokes a key at once and redirects to the list of keys.
func (h keyHandlers) revokeKey(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	k, ok := h.keyOf(w, r, v)
	if !ok || !h.Confirm(w, r, v, KeysPath+"/"+k.ID+"/revoke") {
		return
	}
	if _, err := h.lifecycle(v).RevokeKey(r.Context(), access.ActorOf(v.User.ID), v.Org.ID, k.ID); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, KeysPath, "revoked")
}

// askAboutKey writes the page that asks for confirmation of a step: "rotate" or "revoke".
// The page's form is sent to the path of that step.
func (h keyHandlers) askAboutKey(w http.ResponseWriter, r *http.Request, v people.Visitor, step, verb string) {
	k, ok := h.workingKeyOf(w, r, v)
	if !ok {
		return
	}
	row := newKeyRow(k, h.Clock())
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "key_" + step, Title: fmt.Sprintf("%s %s?", verb, row.Name), Head: underKey(row), Data: keyDecision{
		Form: frame.FormTo(v, row.Path+"/"+step), Key: row,
	}})
}
