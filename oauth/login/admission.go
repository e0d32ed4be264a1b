package login

import (
	"net/http"
	"net/url"

	"github.com/mailhelm/mailhelm/core/people"
)

// Admit finds who sent the request. It has answered when it returns false: with
// the way to the sign-in page, or, where the organization requires a second
// factor, with the way to setting one up or proving it.
func (s *Site) Admit(w http.ResponseWriter, r *http.Request) (people.Visitor, bool) {
	return s.AdmitTo(w, r, here(r))
}

// AdmitTo is Admit for a page that knows better than the request where to come
// back to: next is a path of this host.
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

// Confirm asks for a second factor that was proven in the last ten minutes, when
// the visitor's organization requires one. It has answered when it returns false;
// afterwards the browser comes back to next, a path of this host.
func (s *Site) Confirm(w http.ResponseWriter, r *http.Request, v people.Visitor, next string) bool {
	demand, err := s.factors.DemandLately(r.Context(), v)
	if err != nil {
		s.Fail(w, r, err)
		return false
	}
	return s.met(w, demand, next)
}

// met leads to where a demand can be met, unless there is none.
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

// signedIn finds who sent the request, whatever their organization requires: for
// the pages on which that is set up.
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

// here is the page that was asked for, to come back to. A form is not sent again,
// so there is nothing to come back to after one.
func here(r *http.Request) string {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return ""
	}
	return localPath(r.URL.RequestURI())
}

// withNext is a page of this host that leads on to next, if there is one.
func withNext(path, next string) string {
	if next == "" {
		return path
	}
	return path + "?" + url.Values{"next": {next}}.Encode()
}
