package login

import (
	"cmp"
	"html/template"
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

// securityPages are the page of a person's second factors and the pages that set them up.
type securityPages struct {
	*Admission
	passwords        *people.Passwords
	page, app, codes *template.Template
}

// showSecurity shows the person's second factors.
func (p *securityPages) showSecurity(w http.ResponseWriter, r *http.Request) {
	if v, ok := p.signedInVisitor(w, r, returnPath(r)); ok {
		p.listFactors(w, r, v, nil)
	}
}

// listFactors writes the security page, with the error in wrong unless it is nil.
func (p *securityPages) listFactors(w http.ResponseWriter, r *http.Request, v people.Visitor, wrong *core.Error) {
	has, err := p.factors.FactorsOf(r.Context(), v.User.ID)
	if err != nil {
		p.Fail(w, r, err)
		return
	}
	page := security{
		Visitor: v, Factors: has, Offered: p.factors.OffersPasskeys(), Token: v.FormToken(SecurityPath),
		Required: v.Org.RequireSecondFactor && !has.Any(), Next: nextPage(r),
	}
	if err := p.factors.MayLose(r.Context(), v.User.ID, has); err != nil {
		kept := core.AsError(err)
		if kept.Code != core.CodeConflict {
			p.Fail(w, r, err)
			return
		}
		page.Kept = kept.Message + " " + kept.NextStep()
	}
	if page.Warning, page.Warned, err = p.passwords.LastWarning(r.Context(), v.User.ID); err != nil {
		p.Fail(w, r, err)
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
	p.Show(w, r, status, p.page, "Security", page)
}

// applyChange runs a change of the security page and shows the page again. It shows the
// error of the change, or redirects to a proof when the change needs one.
func (p *securityPages) applyChange(w http.ResponseWriter, r *http.Request, change func(people.Visitor) error) {
	v, ok := p.submitter(w, r)
	if !ok {
		return
	}
	if err := change(v); err != nil {
		p.refuseChange(w, r, v, err)
		return
	}
	seeOther(w, securityAddress(r))
}

// nextPage returns the page to continue to after the security page, which its links and
// forms carry along; "" without one.
func nextPage(r *http.Request) string {
	if r.Method == http.MethodPost {
		return localPath(r.PostForm.Get(fieldNext))
	}
	return localPath(r.URL.Query().Get(fieldNext))
}

// securityAddress returns the path of the security page, including the page to continue
// to.
func securityAddress(r *http.Request) string { return withNext(SecurityPath, nextPage(r)) }

// submitter returns the person who submitted a form of the security page. When it returns
// false, it has written the response.
func (p *securityPages) submitter(w http.ResponseWriter, r *http.Request) (people.Visitor, bool) {
	v, ok := p.signedInVisitor(w, r, securityAddress(r))
	return v, ok && p.checkToken(w, r, v, SecurityPath)
}

// refuseChange shows a refused change: a redirect to the proof page when a proof is needed,
// else the security page with the error.
func (p *securityPages) refuseChange(w http.ResponseWriter, r *http.Request, v people.Visitor, err error) {
	e := core.AsError(err)
	switch {
	case people.IsProofNeeded(err):
		seeOther(w, withNext(ConfirmPath, localPath(securityAddress(r))))
	case e.IsFault(), IsSignedOut(err):
		p.Fail(w, r, err)
	default:
		p.logRefusal(r, "change of second factors", e)
		retryLater(w, e)
		p.listFactors(w, r, v, e)
	}
}

// codesPage shows recovery codes, once, and links to Next.
type codesPage struct {
	Codes []string
	Next  string
}

func (p *securityPages) showCodes(w http.ResponseWriter, r *http.Request, codes []string) {
	if len(codes) == 0 {
		seeOther(w, securityAddress(r))
		return
	}
	p.Show(w, r, http.StatusOK, p.codes, "Recovery codes", codesPage{Codes: codes, Next: cmp.Or(nextPage(r), SecurityPath)})
}

func (p *securityPages) renewCodes(w http.ResponseWriter, r *http.Request) {
	v, ok := p.submitter(w, r)
	if !ok {
		return
	}
	codes, err := p.factors.RenewCodes(r.Context(), v, requestID(r))
	if err != nil {
		p.refuseChange(w, r, v, err)
		return
	}
	p.showCodes(w, r, codes)
}
