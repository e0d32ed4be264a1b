package dashboard

import (
	"fmt"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/passwords"
)

// JoinPath is where the link of an invitation leads, below the app's address. It
// stands outside [Path]: whoever opens it may not be signed in, or be known at all.
const JoinPath = "/join"

// joinPage is what the page of an invitation shows. Which of the three ways to
// join it offers follows from who opens it.
type joinPage struct {
	Problem string
	Org     string
	Email   string // the invited address
	Owner   bool
	Token   string // the link's secret, which the form sends back
	// SignedInAs is who opens it, "" when nobody is signed in.
	SignedInAs string
	ForYou     bool   // SignedInAs is who was invited
	Here       string // this page, to come back to after signing in or out
	SignIn     string // where to sign in, when the address has an account
	Known      bool   // the address has an account that cannot sign in anywhere yet
	Session    string // the form's token when somebody is signed in
	Name       string
	Least      int // characters of a password
}

// join is the page of an invitation. Opening it changes nothing.
func (d *Dashboard) join() http.Handler {
	return d.Frame.Protect(map[string]http.HandlerFunc{
		http.MethodGet: func(w http.ResponseWriter, r *http.Request) {
			d.showJoin(w, r, http.StatusOK, r.URL.Query().Get("token"), "", "")
		},
		http.MethodPost: d.acceptInvitation,
	})
}

// visitor is who sent the request; false when nobody is signed in.
func (d *Dashboard) visitor(r *http.Request) (access.Visitor, bool, error) {
	v, err := d.Frame.Visitor(r)
	if err != nil && d.Frame.SignedOut(err) {
		return access.Visitor{}, false, nil
	}
	return v, err == nil, err
}

func (d *Dashboard) showJoin(w http.ResponseWriter, r *http.Request, status int, secret, name, problem string) {
	offer, err := d.memberships().Offered(r.Context(), secret)
	if err != nil {
		d.Frame.Fail(w, r, err)
		return
	}
	v, signedIn, err := d.visitor(r)
	if err != nil {
		d.Frame.Fail(w, r, err)
		return
	}
	here := JoinLink("", secret)
	data := joinPage{
		Problem: problem, Org: offer.Org.Name, Email: offer.Invitation.Email, Owner: offer.Invitation.Role == access.Owner,
		Token: secret, Here: here, Name: name, Least: passwords.Least,
	}
	switch {
	case signedIn:
		data.SignedInAs, data.ForYou = v.User.Email, offer.Invitation.IsFor(v.User.Email)
		data.Session = v.FormToken(joinQuestion(secret))
	case offer.HasAccount && !offer.MaySignIn:
		data.Known = true
	case offer.HasAccount:
		data.SignIn = d.Frame.SignInAddress(here)
	}
	d.showPage(w, r, status, "join", "Join "+offer.Org.Name, layout{Data: data})
}

// joinQuestion is what a form of somebody who is signed in has to prove.
func joinQuestion(secret string) string { return "join\x00" + secret }

func (d *Dashboard) acceptInvitation(w http.ResponseWriter, r *http.Request) {
	secret := r.PostForm.Get("invitation")
	v, signedIn, err := d.visitor(r)
	if err != nil {
		d.Frame.Fail(w, r, err)
		return
	}
	if signedIn {
		d.joinAs(w, r, v, secret)
		return
	}
	if r.PostForm.Has("known") {
		d.joinKnown(w, r, secret)
		return
	}
	name := r.PostForm.Get("name")
	member, err := d.memberships().JoinNew(r.Context(), secret, name, r.PostForm.Get("password"))
	if d.askAgain(w, r, secret, name, err) {
		return
	}
	if err == nil {
		err = d.Frame.Enter(w, r, member)
	}
	d.joined(w, r, err)
}

// joinKnown lets in an account that belongs to no organization, for which there is
// no session to be had. The password tells who it is; signing in follows, with a
// second factor where there is one.
func (d *Dashboard) joinKnown(w http.ResponseWriter, r *http.Request, secret string) {
	offer, err := d.memberships().Offered(r.Context(), secret)
	if err != nil {
		d.Frame.Fail(w, r, err)
		return
	}
	user, err := d.Frame.ProvePassword(r, offer.Invitation.Email, r.PostForm.Get("password"))
	if err == nil {
		_, err = d.memberships().Join(r.Context(), secret, user)
	}
	if !d.askAgain(w, r, secret, "", err) {
		d.joined(w, r, err)
	}
}

// askAgain shows the form with what is wrong when the person can mend it, and
// reports whether it did.
func (d *Dashboard) askAgain(w http.ResponseWriter, r *http.Request, secret, name string, err error) bool {
	if err == nil {
		return false
	}
	switch e := core.AsError(err); e.Code {
	case core.CodeValidationFailed, core.CodeConflict, core.CodeInvalidKey, core.CodeRateLimited:
		d.showJoin(w, r, e.HTTPStatus(), secret, name, e.Message+" "+e.NextStep())
		return true
	}
	return false
}

// joinAs lets in somebody who is signed in. The session goes on in the
// organization that was joined.
func (d *Dashboard) joinAs(w http.ResponseWriter, r *http.Request, v access.Visitor, secret string) {
	if !v.FormTokenMatches(r.PostForm.Get(fieldToken), joinQuestion(secret)) {
		d.Frame.Refuse(w, r, http.StatusForbidden, "This page was no longer current", "Nothing was done. Open the link of the invitation again.")
		return
	}
	member, err := d.memberships().Join(r.Context(), secret, v.User)
	if err == nil {
		if err = d.Frame.WorkIn(r, member.OrgID); err != nil {
			err = fmt.Errorf("after joining: %w", err)
		}
	}
	d.joined(w, r, err)
}

func (d *Dashboard) joined(w http.ResponseWriter, r *http.Request, err error) {
	if err != nil {
		d.Frame.Fail(w, r, err)
		return
	}
	seeOther(w, Path)
}
