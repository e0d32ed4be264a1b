package login

import (
	"cmp"
	"html/template"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
)

// security is the data of the security page, which lists a person's second factors.
type security struct {
	Visitor  people.Visitor
	Factors  people.Factors
	Offered  bool   // whether passkeys can be used on this installation
	Required bool   // whether a required second factor is missing
	Kept     string // why the last second factor cannot be removed, or ""
	Token    string
	Problem  string
	Notice   string // what the previous form changed, or ""
	Warning  people.Warning
	Warned   bool   // whether there were many wrong passwords recently
	Next     string // the path of the page to which the visitor returns from this page, or ""
}

// securityPages serve the security page, which lists a person's second factors, and the
// pages that set them up.
type securityPages struct {
	*Admission
	warnings         people.Warnings
	page, app, codes *template.Template
}

// showSecurity shows the security page, which lists the person's second factors.
func (p *securityPages) showSecurity(w http.ResponseWriter, r *http.Request) {
	if v, ok := p.signedInVisitor(w, r, returnPath(r)); ok {
		p.listFactors(w, r, v, nil)
	}
}

// listFactors writes the security page. If wrong is not nil, the page shows this error.
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
	if page.Warning, page.Warned, err = p.warnings.LastWarning(r.Context(), v.User.ID); err != nil {
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
	p.showSignedIn(w, r, v, status, p.page, "Security", page)
}

// applyChange runs a change that a form of the security page requests and shows the page
// again. If the change fails, it shows the error, or redirects to the page that asks for a
// second factor.
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

// nextPage returns the path of the page to open after the security page, or "". The links
// and forms of the security page pass this path on in the parameter next.
func nextPage(r *http.Request) string {
	if r.Method == http.MethodPost {
		return localPath(r.PostForm.Get(fieldNext))
	}
	return localPath(r.URL.Query().Get(fieldNext))
}

// securityAddress returns the path of the security page with the request's parameter next.
func securityAddress(r *http.Request) string { return withNext(SecurityPath, nextPage(r)) }

// submitter returns the person who submitted a form of the security page. If it returns
// false, it has written the response.
func (p *securityPages) submitter(w http.ResponseWriter, r *http.Request) (people.Visitor, bool) {
	v, ok := p.signedInVisitor(w, r, securityAddress(r))
	return v, ok && p.checkToken(w, r, v, SecurityPath)
}

// refuseChange answers a failed change of second factors. It redirects to the page that
// asks for a second factor if one is needed. Otherwise it shows the security page with the
// error.
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

// codesPage is the data of the page that shows new recovery codes, once. Next is the page
// to open afterwards.
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
