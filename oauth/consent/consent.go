package consent

import (
	"embed"
	"errors"
	"html/template"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/oauth"
	"github.com/mailhelm/mailhelm/oauth/login"
)

// Path is the URL path of the consent page on the app's host.
const Path = "/oauth/authorize"

// The names of the consent form's fields, and the two values of the field decision.
const (
	fieldRequest  = "request"
	fieldToken    = "token"
	fieldOrg      = "org_id"
	fieldScope    = "scope"
	fieldDecision = "decision"
	approve       = "approve"
	deny          = "deny"
)

//go:embed pages/*.html
var templates embed.FS

// Config has the dependencies of the consent page. All fields are required.
type Config struct {
	Server *oauth.Server
	Login  *login.Site
}

// Page is the consent page.
type Page struct {
	server           *oauth.Server
	login            *login.Site
	consent, another *template.Template
}

// New returns the consent page. It fails if a template does not parse.
func New(cfg Config) (*Page, error) {
	consent, err := login.ParsePage(templates, "pages/consent.html")
	if err != nil {
		return nil, err
	}
	another, err := login.ParsePage(templates, "pages/another_org.html")
	if err != nil {
		return nil, err
	}
	return &Page{server: cfg.Server, login: cfg.Login, consent: consent, another: another}, nil
}

// Handler returns the handler of the consent page. GET shows it; POST carries out the
// person's decision.
func (p *Page) Handler() http.Handler {
	return p.login.Protect(login.Methods{http.MethodGet: p.show, http.MethodPost: p.decide})
}

// consentRequest is a valid authorization request and the signed-in person who decides
// about it.
type consentRequest struct {
	oauth.AuthorizationRequest
	rawQuery string
	visitor  people.Visitor
}

// show writes the consent page for a valid authorization request.
func (p *Page) show(w http.ResponseWriter, r *http.Request) {
	if a, ok := p.read(w, r, r.URL.RawQuery); ok {
		p.ask(w, r, http.StatusOK, a, notes{})
	}
}

// decide validates the submitted authorization request again and approves or denies it. It
// shows the page again if the form token is invalid, if the form has no decision, or if
// the person has switched to another organization since the page was shown.
func (p *Page) decide(w http.ResponseWriter, r *http.Request) {
	rawQuery := r.PostForm.Get(fieldRequest)
	a, ok := p.read(w, r, rawQuery)
	if !ok {
		return
	}
	if r.PostForm.Get(fieldOrg) != a.visitor.Org.ID {
		p.ask(w, r, http.StatusConflict, a, notes{Notice: "You have switched to another organization since this page was shown. Nothing was allowed yet. Check the page and choose again."})
		return
	}
	if !a.visitor.FormTokenMatches(r.PostForm.Get(fieldToken), question(rawQuery)) {
		p.ask(w, r, http.StatusForbidden, a, notes{Notice: "This page was outdated. Nothing was allowed yet. Check the page and choose again."})
		return
	}
	switch r.PostForm.Get(fieldDecision) {
	case approve:
		p.approve(w, r, a)
	case deny:
		redirect(w, p.server.Deny(a.AuthorizationRequest))
	default:
		p.ask(w, r, http.StatusUnprocessableEntity, a, notes{Problem: "Choose Allow or Decline."})
	}
}

// approve grants the selected scopes and redirects to the client with a code. It shows the
// page again if none of the selected scopes may be granted.
func (p *Page) approve(w http.ResponseWriter, r *http.Request, a consentRequest) {
	chosen := core.NewScopes(r.PostForm[fieldScope]...)
	location, err := p.server.Approve(r.Context(), a.AuthorizationRequest, a.visitor.Member, chosen)
	if e, ok := errors.AsType[*core.Error](err); ok && e.Code == core.CodeValidationFailed {
		p.ask(w, r, http.StatusUnprocessableEntity, a, notes{Problem: "No permission is selected. Select at least one, or choose Decline."})
		return
	}
	if err != nil {
		p.login.Fail(w, r, err)
		return
	}
	redirect(w, location)
}

// read validates an authorization request and returns it with the signed-in person. If it
// returns false, it has written the response. Errors are reported before the person signs
// in. Only a client id that is a URL requires sign-in first, because validating it fetches
// a document.
func (p *Page) read(w http.ResponseWriter, r *http.Request, rawQuery string) (consentRequest, bool) {
	a := consentRequest{rawQuery: rawQuery}
	var ok bool
	if oauth.NamesDocument(rawQuery) {
		if a.visitor, ok = p.visitor(w, r, rawQuery); !ok {
			return consentRequest{}, false
		}
	}
	request, refused := p.server.ReadAuthorization(r.Context(), rawQuery)
	if refused != nil {
		p.refuse(w, r, refused)
		return consentRequest{}, false
	}
	a.AuthorizationRequest = request
	if a.visitor.Org.ID == "" {
		if a.visitor, ok = p.visitor(w, r, rawQuery); !ok {
			return consentRequest{}, false
		}
	}
	return a, p.checkClientAllowed(w, r, a)
}

// visitor returns the signed-in person, if the person meets what the organization requires,
// such as a second factor. If it returns false, it has written the response, such as a
// redirect to the sign-in page. No access to a deleted organization can be granted.
func (p *Page) visitor(w http.ResponseWriter, r *http.Request, rawQuery string) (people.Visitor, bool) {
	v, ok := p.login.AdmitTo(w, r, address(rawQuery))
	if ok && v.Org.IsDeleted() {
		e := core.OrgDeleted(v.Org)
		p.login.Refuse(w, r, http.StatusForbidden, e.Message, e.NextStep())
		return people.Visitor{}, false
	}
	return v, ok
}

// checkClientAllowed reports whether the client may be approved in the person's
// organization. If it returns false, it has written the response.
func (p *Page) checkClientAllowed(w http.ResponseWriter, r *http.Request, a consentRequest) bool {
	if !a.Client.Open() && a.Client.OrgID != a.visitor.Org.ID {
		p.offerOrg(w, r, a)
		return false
	}
	blocked, err := p.server.IsBlocked(r.Context(), a.Client, a.visitor.Org.ID)
	if err != nil {
		p.login.Fail(w, r, err)
		return false
	}
	if blocked {
		p.login.Refuse(w, r, http.StatusForbidden, a.visitor.Org.Name+" has blocked this application",
			"Members of this organization cannot grant it access. Ask an owner to unblock it, or switch to another organization.")
	}
	return !blocked
}

// refuse answers an invalid authorization request. It redirects to the client with the
// error, or shows the error to the person if the redirect URI is not trusted.
func (p *Page) refuse(w http.ResponseWriter, r *http.Request, refused *oauth.AuthorizationRefusal) {
	switch {
	case refused.Redirect != "":
		redirect(w, refused.Redirect)
	case refused.Err != nil:
		p.login.Fail(w, r, refused.Err)
	default:
		p.login.Refuse(w, r, http.StatusBadRequest, "This request cannot be answered", refused.Message)
	}
}

// redirect sends the browser to the client with status 303. With 307 the browser would post
// the form to the client (RFC 9700 section 4.12).
func redirect(w http.ResponseWriter, location string) {
	w.Header().Set("Location", location)
	w.WriteHeader(http.StatusSeeOther)
}

// address returns the path and query of the consent page for an authorization request.
func address(rawQuery string) string { return Path + "?" + rawQuery }

// question returns the text that a form token is derived from, so that the token is valid
// for one authorization request only.
func question(rawQuery string) string { return "consent\x00" + rawQuery }
