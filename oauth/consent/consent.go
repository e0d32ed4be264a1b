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

// Path is the path of the page below the app's address.
const Path = "/oauth/authorize"

// The names of the form's fields, and the values of the decision.
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

// Config configures the page. All fields are required.
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

// New returns the page. It fails when a template does not parse.
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

// Handler returns the handler that shows the page on GET and takes the decision on
// POST.
func (p *Page) Handler() http.Handler {
	return p.login.Protect(login.Methods{http.MethodGet: p.show, http.MethodPost: p.decide})
}

// asked is a validated request with the person who decides about it.
type asked struct {
	oauth.AuthorizationRequest
	rawQuery string
	visitor  people.Visitor
}

// show writes the page for a valid request.
func (p *Page) show(w http.ResponseWriter, r *http.Request) {
	if a, ok := p.read(w, r, r.URL.RawQuery); ok {
		p.ask(w, r, http.StatusOK, a, notes{})
	}
}

// decide validates the request again and carries out the decision. It shows the page
// again when the state has changed since the form was shown.
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

// approve grants the chosen scopes and redirects to the client. It shows the page again when
// none of the chosen scopes may be granted.
func (p *Page) approve(w http.ResponseWriter, r *http.Request, a asked) {
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

// read validates the request and returns it with the signed-in person. When it returns
// false, it has written the response. Errors of a request are reported before the
// person signs in. The exception is a client id that names a document: it is fetched
// only for a signed-in person.
func (p *Page) read(w http.ResponseWriter, r *http.Request, rawQuery string) (asked, bool) {
	a := asked{rawQuery: rawQuery}
	var ok bool
	if oauth.NamesDocument(rawQuery) {
		if a.visitor, ok = p.visitor(w, r, rawQuery); !ok {
			return asked{}, false
		}
	}
	request, refused := p.server.ReadAuthorization(r.Context(), rawQuery)
	if refused != nil {
		p.refuse(w, r, refused)
		return asked{}, false
	}
	a.AuthorizationRequest = request
	if a.visitor.Org.ID == "" {
		if a.visitor, ok = p.visitor(w, r, rawQuery); !ok {
			return asked{}, false
		}
	}
	return a, p.checkClientAllowed(w, r, a)
}

// visitor returns the signed-in person, who has met the organization's requirements for
// signing in. When it returns false, it has written the response.
func (p *Page) visitor(w http.ResponseWriter, r *http.Request, rawQuery string) (people.Visitor, bool) {
	return p.login.AdmitTo(w, r, address(rawQuery))
}

// checkClientAllowed checks that the person's organization allows the client. When it returns
// false, it has written the response.
func (p *Page) checkClientAllowed(w http.ResponseWriter, r *http.Request, a asked) bool {
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

// refuse redirects a refusal to the client, or shows it to the person when the redirect URI
// is not trusted.
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

// redirect sends the browser to the client with 303, so that it does not send the form
// to the client (RFC 9700 section 4.12).
func redirect(w http.ResponseWriter, location string) {
	w.Header().Set("Location", location)
	w.WriteHeader(http.StatusSeeOther)
}

// address returns the path of this page with a request.
func address(rawQuery string) string { return Path + "?" + rawQuery }

// question returns the text that binds the form's token to a request.
func question(rawQuery string) string { return "consent\x00" + rawQuery }
