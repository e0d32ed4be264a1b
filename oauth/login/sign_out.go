package login

import "net/http"

// signOut ends the session and redirects to the sign-in page, which continues to
// `next`. The consent page uses it to change the person.
func (s *Site) signOut(w http.ResponseWriter, r *http.Request) {
	err := s.sessions.SignOut(r.Context(), s.cookies.session.read(r), requestID(r))
	s.signedOut(w, r, err)
}

func (s *Site) signOutEverywhere(w http.ResponseWriter, r *http.Request) {
	err := s.sessions.SignOutEverywhere(r.Context(), s.cookies.session.read(r), requestID(r))
	s.signedOut(w, r, err)
}

func (s *Site) signedOut(w http.ResponseWriter, r *http.Request, err error) {
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	s.cookies.session.clear(w)
	seeOther(w, signInAddress(localPath(r.PostForm.Get("next"))))
}

// switchOrg switches the session to another organization of the person.
func (s *Site) switchOrg(w http.ResponseWriter, r *http.Request) {
	next := localPath(r.PostForm.Get("next"))
	err := s.sessions.SwitchOrg(r.Context(), s.cookies.session.read(r), r.PostForm.Get("org_id"))
	switch {
	case IsSignedOut(err):
		s.AskToSignIn(w, next)
	case err != nil:
		s.Fail(w, r, err)
	case next != "":
		seeOther(w, next)
	default:
		seeOther(w, SignInPath)
	}
}
