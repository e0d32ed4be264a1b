package organization

import (
	"fmt"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/passwords"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// JoinPath is the path of the page of an invitation. It is outside [frame.Path], because
// people without an account open it.
const JoinPath = "/join"

// joinPage is the data of the page of an invitation. It offers one of three ways to join:
// as the signed-in visitor, with the password of an existing account, or with a new
// account.
type joinPage struct {
	Problem string
	Org     string
	Email   string // the invited address
	Owner   bool
	Token   string // the secret of the link, which the form sends back
	// SignedInAs is the email address of the visitor; "" if the visitor is not signed in.
	SignedInAs string
	ForYou     bool   // whether the visitor is the invited person
	Here       string // the path of this page, for the return from sign-in or sign-out
	SignIn     string // the path of the sign-in page, if the invited person can sign in
	Known      bool   // the invited address has an account that belongs to no organization
	Session    string // the form token; "" without a session
	Name       string
	Least      int // the minimum length of a password, in characters
}

// Join returns the handler of the page of an invitation: GET shows it and changes nothing,
// POST accepts the invitation.
func (o *Organization) Join() http.Handler {
	h := joinHandlers{o}
	return h.Site.Protect(map[string]http.HandlerFunc{
		http.MethodGet: func(w http.ResponseWriter, r *http.Request) {
			h.showJoin(w, r, http.StatusOK, r.URL.Query().Get("token"), "", "")
		},
		http.MethodPost: h.acceptInvitation,
	})
}

// visitor returns the signed-in sender of the request. It returns false without an error if
// there is no session.
func (h joinHandlers) visitor(r *http.Request) (people.Visitor, bool, error) {
	v, err := h.Entrance.Visitor(r)
	if err != nil && h.Entrance.IsSignedOut(err) {
		return people.Visitor{}, false, nil
	}
	return v, err == nil, err
}

// showJoin writes the page of the invitation with this secret. name is the initial value of
// the name field. problem is the error of the submitted form, or "".
func (h joinHandlers) showJoin(w http.ResponseWriter, r *http.Request, status int, secret, name, problem string) {
	offer, err := h.Joining.FindOffer(r.Context(), secret)
	if err != nil {
		h.Site.Fail(w, r, err)
		return
	}
	v, signedIn, err := h.visitor(r)
	if err != nil {
		h.Site.Fail(w, r, err)
		return
	}
	here := JoinLink("", secret)
	data := joinPage{
		Problem: problem, Org: offer.Org.Name, Email: offer.Invitation.Email, Owner: offer.Invitation.Role == members.Owner,
		Token: secret, Here: here, Name: name, Least: passwords.Least,
	}
	switch {
	case signedIn:
		data.SignedInAs, data.ForYou = v.User.Email, offer.Invitation.IsFor(v.User.Email)
		data.Session = v.FormToken(joinQuestion(secret))
	case offer.HasAccount && !offer.MaySignIn:
		data.Known = true
	case offer.HasAccount:
		data.SignIn = h.Entrance.SignInAddress(here)
	}
	h.ShowAlone(w, r, status, frame.Screen{Page: "join", Title: "Join " + offer.Org.Name, Data: data})
}

// joinQuestion returns the text from which the form token of a signed-in visitor is
// computed. The secret in the text binds the token to one invitation.
func joinQuestion(secret string) string { return "join\x00" + secret }

// acceptInvitation makes the sender of the form a member of the organization: as the
// signed-in visitor, with the password of an existing account, or with a new account.
func (h joinHandlers) acceptInvitation(w http.ResponseWriter, r *http.Request) {
	secret := r.PostForm.Get("invitation")
	v, signedIn, err := h.visitor(r)
	if err != nil {
		h.Site.Fail(w, r, err)
		return
	}
	if signedIn {
		h.joinAs(w, r, v, secret)
		return
	}
	if r.PostForm.Has("known") {
		h.joinExisting(w, r, secret)
		return
	}
	name := r.PostForm.Get("name")
	member, err := h.Joining.JoinNew(r.Context(), secret, name, r.PostForm.Get("password"))
	if h.askAgain(w, r, secret, name, err) {
		return
	}
	if err == nil {
		err = h.Entrance.Enter(w, r, member)
	}
	h.finishJoin(w, r, err)
}

// joinExisting accepts an invitation for an account that belongs to no organization and
// therefore cannot sign in. It checks the account's password. The person signs in
// afterwards, with a second factor if one is set up.
func (h joinHandlers) joinExisting(w http.ResponseWriter, r *http.Request, secret string) {
	offer, err := h.Joining.FindOffer(r.Context(), secret)
	if err != nil {
		h.Site.Fail(w, r, err)
		return
	}
	user, err := h.Entrance.ProvePassword(r, offer.Invitation.Email, r.PostForm.Get("password"))
	if err == nil {
		_, err = h.Joining.Join(r.Context(), secret, user)
	}
	if !h.askAgain(w, r, secret, "", err) {
		h.finishJoin(w, r, err)
	}
}

// askAgain shows the form again if the person can correct the error. It reports whether it
// has written the response.
func (h joinHandlers) askAgain(w http.ResponseWriter, r *http.Request, secret, name string, err error) bool {
	if err == nil {
		return false
	}
	switch e := core.AsError(err); e.Code {
	case core.CodeValidationFailed, core.CodeConflict, core.CodeInvalidKey, core.CodeRateLimited:
		h.showJoin(w, r, e.HTTPStatus(), secret, name, e.Message+" "+e.NextStep())
		return true
	}
	return false
}

// joinAs makes the signed-in visitor a member and switches the session to the new
// organization.
func (h joinHandlers) joinAs(w http.ResponseWriter, r *http.Request, v people.Visitor, secret string) {
	if !v.FormTokenMatches(r.PostForm.Get(frame.FieldToken), joinQuestion(secret)) {
		h.Site.Refuse(w, r, http.StatusForbidden, "This page was outdated", "Nothing was done. Open the link of the invitation again.")
		return
	}
	member, err := h.Joining.Join(r.Context(), secret, v.User)
	if err == nil {
		if err = h.Entrance.WorkIn(r, member.OrgID); err != nil {
			err = fmt.Errorf("after joining: %w", err)
		}
	}
	h.finishJoin(w, r, err)
}

// finishJoin redirects a new member to the dashboard if err is nil. Otherwise it writes the
// page for the error.
func (h joinHandlers) finishJoin(w http.ResponseWriter, r *http.Request, err error) {
	if err != nil {
		h.Site.Fail(w, r, err)
		return
	}
	frame.SeeOther(w, frame.Path)
}
