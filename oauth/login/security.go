package login

import (
	"cmp"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
)

// security is the data of the page about a person's second factors.
type security struct {
	Visitor  people.Visitor
	Factors  people.Factors
	Offered  bool   // passkeys can be used on this installation
	Required bool   // the organization requires a factor, and the person has none
	Kept     string // the reason why the last factor cannot be removed, or ""
	Token    string
	Problem  string
	Notice   string // the result of the last action, or ""
	Warning  people.Warning
	Warned   bool   // there were many wrong passwords lately
	Next     string // the page to continue to, or ""
}

// showSecurity shows the person's second factors.
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

// changed runs a change of the security page and shows the page again. It shows the
// error of the change, or redirects to a proof when the change needs one.
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

// goingTo returns the page to continue to after the security page, which its links and
// forms carry along; "" without one.
func goingTo(r *http.Request) string {
	if r.Method == http.MethodPost {
		return localPath(r.PostForm.Get(fieldNext))
	}
	return localPath(r.URL.Query().Get(fieldNext))
}

// securityAddress returns the path of the security page, including the page to continue
// to.
func securityAddress(r *http.Request) string { return withNext(SecurityPath, goingTo(r)) }

// member returns the person who submitted a form of the security page. When it returns
// false, it has written the response.
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

// codesPage shows recovery codes, once, and links to Next.
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
