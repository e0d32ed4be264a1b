package login

import (
	"net/http"
	"net/url"

	"github.com/mailhelm/mailhelm/core/people"
)

// Admit returns the signed-in visitor. When it returns false, it has written the
// response: a redirect to the sign-in page, or an error. Where the organization requires
// a second factor, it redirects to the page for setting one up or for proving it.
func (s *Site) Admit(w http.ResponseWriter, r *http.Request) (people.Visitor, bool) {
	return s.AdmitTo(w, r, here(r))
}

// AdmitTo is Admit with the path to return to after signing in. next is a path of this
// host.
func (s *Site) AdmitTo(w http.ResponseWriter, r *http.Request, next string) (people.Visitor, bool) {
	visitor, ok := s.signedIn(w, r, next)
	if !ok {
		return people.Visitor{}, false
	}
	demand, err := s.factors.Demand(r.Context(), visitor)
	if err != nil {
		s.Fail(w, r, err)
		return people.Visitor{}, false
	}
	return visitor, s.met(w, demand, next)
}

// Confirm requires a second factor proven in the last ten minutes, if the visitor's
// organization requires one. When it returns false, it has redirected to the proof;
// afterwards the browser returns to next, a path of this host.
func (s *Site) Confirm(w http.ResponseWriter, r *http.Request, v people.Visitor, next string) bool {
	demand, err := s.factors.DemandLately(r.Context(), v)
	if err != nil {
		s.Fail(w, r, err)
		return false
	}
	return s.met(w, demand, next)
}

// met reports whether there is no demand. Otherwise it redirects to the page where the
// demand is met.
func (s *Site) met(w http.ResponseWriter, demand people.Demand, next string) bool {
	switch demand {
	case people.DemandSetUp:
		seeOther(w, withNext(SecurityPath, localPath(next)))
	case people.DemandProof:
		seeOther(w, withNext(ConfirmPath, localPath(next)))
	case people.NoDemand:
		return true
	}
	return false
}

// signedIn returns the visitor without checking the organization's demands. It is for
// the pages on which second factors are set up. When it returns false, it has written
// the response.
func (s *Site) signedIn(w http.ResponseWriter, r *http.Request, next string) (people.Visitor, bool) {
	visitor, err := s.Visitor(r)
	if IsSignedOut(err) {
		s.AskToSignIn(w, next)
		return people.Visitor{}, false
	}
	if err != nil {
		s.Fail(w, r, err)
		return people.Visitor{}, false
	}
	return visitor, true
}

// here returns the path to come back to after signing in: the requested page. It
// returns "" after a form, because a form is not submitted again.
func here(r *http.Request) string {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return ""
	}
	return localPath(r.URL.RequestURI())
}

// withNext returns path with next as its parameter, or path alone when next is "".
func withNext(path, next string) string {
	if next == "" {
		return path
	}
	return path + "?" + url.Values{"next": {next}}.Encode()
}
