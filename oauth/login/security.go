package login

import (
	"cmp"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
)

// security is what the page about a person's second factors shows.
type security struct {
	Visitor  people.Visitor
	Factors  people.Factors
	Offered  bool   // passkeys
	Required bool   // by the organization, and there is none yet
	Kept     string // why the last factor cannot be removed, or ""
	Token    string
	Problem  string
	Notice   string // what has just happened, or ""
	Warning  people.Warning
	Warned   bool   // many wrong passwords were tried lately
	Next     string // where the person was going when they were led here, or ""
}

// showSecurity lists what the person has set up.
func (s *Site) showSecurity(w http.ResponseWriter, r *http.Request) {
	if v, ok := s.signedIn(w, r, here(r)); ok {
		s.listFactors(w, r, v, nil)
	}
}

func (s *Site) listFactors(w http.ResponseWriter, r *http.Request, v people.Visitor, wrong *core.Error) {
	has, err := s.factors.Of(r.Context(), v.User.ID)
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	page := security{
		Visitor: v, Factors: has, Offered: s.factors.PasskeysOffered(), Token: v.FormToken(SecurityPath),
		Required: v.Org.RequireSecondFactor && !has.Any(), Next: goingTo(r),
	}
	if err := s.factors.MayLose(r.Context(), v.User.ID, has); err != nil {
		kept := core.AsError(err)
		if kept.Code != core.CodeConflict {
			s.Fail(w, r, err)
			return
		}
		page.Kept = kept.Message + " " + kept.NextStep()
	}
	if page.Warning, page.Warned, err = s.passwords.LastWarning(r.Context(), v.User.ID); err != nil {
		s.Fail(w, r, err)
		return
	}
	if r.URL.Query().Has(fieldReset) {
		page.Notice = "Your password was changed. You are signed out in all other browsers."
	}
	status := http.StatusOK
	if wrong != nil {
		status, page.Problem = wrong.HTTPStatus(), wrong.Message+" "+wrong.NextStep()
	}
	if page.Offered {
		allowScript(w)
	}
	s.Show(w, r, status, s.pages.security, "Security", page)
}

// changed runs a change of the security page and comes back to it: with what is
// wrong, by way of a proof, or as it is then.
func (s *Site) changed(w http.ResponseWriter, r *http.Request, change func(people.Visitor) error) {
	v, ok := s.member(w, r)
	if !ok {
		return
	}
	if err := change(v); err != nil {
		s.securityRefused(w, r, v, err)
		return
	}
	seeOther(w, securityAddress(r))
}

// goingTo is where the person was going when they were led to the security page,
// which its addresses and forms carry along; "" when they came by themselves.
func goingTo(r *http.Request) string {
	if r.Method == http.MethodPost {
		return localPath(r.PostForm.Get(fieldNext))
	}
	return localPath(r.URL.Query().Get(fieldNext))
}

// securityAddress is the security page as it was before a form of it.
func securityAddress(r *http.Request) string { return withNext(SecurityPath, goingTo(r)) }

// member is who sent a form of the security page.
func (s *Site) member(w http.ResponseWriter, r *http.Request) (people.Visitor, bool) {
	v, ok := s.signedIn(w, r, securityAddress(r))
	return v, ok && s.current(w, r, v, SecurityPath)
}

func (s *Site) securityRefused(w http.ResponseWriter, r *http.Request, v people.Visitor, err error) {
	e := core.AsError(err)
	switch {
	case people.IsProofNeeded(err):
		seeOther(w, withNext(ConfirmPath, localPath(securityAddress(r))))
	case e.IsFault(), IsSignedOut(err):
		s.Fail(w, r, err)
	default:
		s.logRefusal(r, "change of second factors", e)
		retryLater(w, e)
		s.listFactors(w, r, v, e)
	}
}

// codesPage shows recovery codes, once, and leads on to Next.
type codesPage struct {
	Codes []string
	Next  string
}

func (s *Site) showCodes(w http.ResponseWriter, r *http.Request, codes []string) {
	if len(codes) == 0 {
		seeOther(w, securityAddress(r))
		return
	}
	s.Show(w, r, http.StatusOK, s.pages.codes, "Recovery codes", codesPage{Codes: codes, Next: cmp.Or(goingTo(r), SecurityPath)})
}

func (s *Site) renewCodes(w http.ResponseWriter, r *http.Request) {
	v, ok := s.member(w, r)
	if !ok {
		return
	}
	codes, err := s.factors.RenewCodes(r.Context(), v, requestID(r))
	if err != nil {
		s.securityRefused(w, r, v, err)
		return
	}
	s.showCodes(w, r, codes)
}

func (s *Site) addPasskey(w http.ResponseWriter, r *http.Request) {
	v, ok := s.member(w, r)
	if !ok {
		return
	}
	added, err := s.factors.AddPasskey(r.Context(), v, r.PostForm.Get("name"), passkeyAnswer(r), requestID(r))
	if err != nil {
		s.securityRefused(w, r, v, err)
		return
	}
	s.cookies.session.set(w, added.Secret)
	s.showCodes(w, r, added.RecoveryCodes)
}

func (s *Site) renamePasskey(w http.ResponseWriter, r *http.Request) {
	s.changed(w, r, func(v people.Visitor) error {
		return s.factors.RenamePasskey(r.Context(), v, r.PostForm.Get("id"), r.PostForm.Get("name"))
	})
}

func (s *Site) removePasskey(w http.ResponseWriter, r *http.Request) {
	s.changed(w, r, func(v people.Visitor) error {
		return s.factors.RemovePasskey(r.Context(), v, r.PostForm.Get("id"), requestID(r))
	})
}

func (s *Site) removeApp(w http.ResponseWriter, r *http.Request) {
	s.changed(w, r, func(v people.Visitor) error { return s.factors.RemoveApp(r.Context(), v, requestID(r)) })
}
