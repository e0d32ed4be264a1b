package login

import "net/http"

// sessionForms handle the forms that end sessions or switch a session's organization.
type sessionForms struct{ *Admission }

// signOut ends the session and redirects to the sign-in page. After signing in again, the
// browser goes to the path in the form field `next`. The consent page uses signOut so that
// another person can sign in.
func (f *sessionForms) signOut(w http.ResponseWriter, r *http.Request) {
	err := f.sessions.SignOut(r.Context(), f.cookies.session.read(r), requestID(r))
	f.answerSignOut(w, r, err)
}

// signOutEverywhere ends all sessions of the person, in all browsers.
func (f *sessionForms) signOutEverywhere(w http.ResponseWriter, r *http.Request) {
	err := f.sessions.SignOutEverywhere(r.Context(), f.cookies.session.read(r), requestID(r))
	f.answerSignOut(w, r, err)
}

func (f *sessionForms) answerSignOut(w http.ResponseWriter, r *http.Request, err error) {
	if err != nil {
		f.Fail(w, r, err)
		return
	}
	f.cookies.session.clear(w)
	seeOther(w, signInAddress(localPath(r.PostForm.Get("next"))))
}

// switchOrg switches the session to another organization that the person belongs to.
func (f *sessionForms) switchOrg(w http.ResponseWriter, r *http.Request) {
	next := localPath(r.PostForm.Get("next"))
	err := f.sessions.SwitchOrg(r.Context(), f.cookies.session.read(r), r.PostForm.Get("org_id"))
	switch {
	case IsSignedOut(err):
		f.AskToSignIn(w, next)
	case err != nil:
		f.Fail(w, r, err)
	case next != "":
		seeOther(w, next)
	default:
		seeOther(w, SignInPath)
	}
}
