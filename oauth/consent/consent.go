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

// Path is where the page is, below the app's address.
const Path = "/oauth/authorize"

// The names of the form's members, and the values of the decision.
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

// Config is what the page needs. All members are required.
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

// New makes the page. It fails when a template does not parse.
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

// Handler answers GET with the page and POST with the decision.
func (p *Page) Handler() http.Handler {
	return p.login.Protect(login.Methods{http.MethodGet: p.show, http.MethodPost: p.decide})
}

// asked is a request that was checked, with the person it is put to.
type asked struct {
	oauth.AuthorizationRequest
	rawQuery string
	visitor  people.Visitor
}

func (p *Page) show(w http.ResponseWriter, r *http.Request) {
	if a, ok := p.read(w, r, r.URL.RawQuery); ok {
		p.ask(w, r, http.StatusOK, a, notes{})
	}
}

// decide reads the request again and carries out the decision. Whatever changed
// since the page was shown makes it be shown again.
func (p *Page) decide(w http.ResponseWriter, r *http.Request) {
	rawQuery := r.PostForm.Get(fieldRequest)
	a, ok := p.read(w, r, rawQuery)
	if !ok {
		return
	}
	if r.PostForm.Get(fieldOrg) != a.visitor.Org.ID {
		p.ask(w, r, http.StatusConflict, a, notes{Notice: "You have switched to another organization since this page was shown. Nothing was allowed yet: look again."})
		return
	}
	if !a.visitor.FormTokenMatches(r.PostForm.Get(fieldToken), question(rawQuery)) {
		p.ask(w, r, http.StatusForbidden, a, notes{Notice: "This page was no longer current. Nothing was allowed yet: look again."})
		return
	}
	switch r.PostForm.Get(fieldDecision) {
	case approve:
		p.approve(w, r, a)
	case deny:
		redirect(w, p.server.Deny(a.AuthorizationRequest))
	default:
		p.ask(w, r, http.StatusUnprocessableEntity, a, notes{Problem: "Choose whether to allow it."})
	}
}

func (p *Page) approve(w http.ResponseWriter, r *http.Request, a asked) {
	chosen := core.NewScopes(r.PostForm[fieldScope]...)
	location, err := p.server.Approve(r.Context(), a.AuthorizationRequest, a.visitor.Member, chosen)
	if e, ok := errors.AsType[*core.Error](err); ok && e.Code == core.CodeValidationFailed {
		p.ask(w, r, http.StatusUnprocessableEntity, a, notes{Problem: "Nothing is marked that you may allow. Mark at least one thing, or decline."})
		return
	}
	if err != nil {
		p.login.Fail(w, r, err)
		return
	}
	redirect(w, location)
}

// read checks the request and finds the person. It has answered when it returns
// false. A faulty request is refused before anybody is asked to sign in, unless
// reading it means fetching a document, which is not done for just anybody.
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
	return a, p.letsIn(w, r, a)
}

// visitor finds the person, who has met what the organization requires of
// signing in. It has answered when it returns false.
func (p *Page) visitor(w http.ResponseWriter, r *http.Request, rawQuery string) (people.Visitor, bool) {
	return p.login.AdmitTo(w, r, address(rawQuery))
}

// letsIn checks that the person's organization may let the client in. It has
// answered when it returns false.
func (p *Page) letsIn(w http.ResponseWriter, r *http.Request, a asked) bool {
	if !a.Client.Open() && a.Client.OrgID != a.visitor.Org.ID {
		p.offerOrg(w, r, a)
		return false
	}
	blocked, err := p.server.Blocked(r.Context(), a.Client, a.visitor.Org.ID)
	if err != nil {
		p.login.Fail(w, r, err)
		return false
	}
	if blocked {
		p.login.Refuse(w, r, http.StatusForbidden, a.visitor.Org.Name+" has blocked this application",
			"Nobody in this organization can allow it anything. Ask an owner to unblock it, or switch to another organization that you belong to.")
	}
	return !blocked
}

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

// redirect sends the browser to the client with 303, so that it never repeats
// the form there (RFC 9700 section 4.12).
func redirect(w http.ResponseWriter, location string) {
	w.Header().Set("Location", location)
	w.WriteHeader(http.StatusSeeOther)
}

// address is this page with a request.
func address(rawQuery string) string { return Path + "?" + rawQuery }

// question names the form for its token.
func question(rawQuery string) string { return "consent\x00" + rawQuery }
