package consent

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/oauth/login"
)

// notes are what stands above the form when it is shown again.
type notes struct{ Notice, Problem string }

// view is what the page shows.
type view struct {
	notes
	Client, Environment string
	Test                bool
	// Host is where the document of a client is that a document describes: all that
	// is known for sure of who asks. Unverified is true for one that registered
	// itself, of which nothing is known.
	Host       string
	Unverified bool
	// Loopback is true when the answer goes to some program on the person's own
	// computer, and no secret says which.
	Loopback bool
	Org      core.Org
	User     access.User
	Resource string
	// Destination is the host that the browser is sent to afterwards.
	Destination    string
	Reads, Changes []choice
	Grantable      bool

	Request, Token, Address string
}

// choice is one scope to allow or not.
type choice struct {
	core.ScopeInfo
	Checked bool
	// Lacking is true when the person has not got the permission behind it.
	Lacking bool
}

// ask shows the page.
func (p *Page) ask(w http.ResponseWriter, r *http.Request, status int, a asked, n notes) {
	v := view{
		notes: n, Client: a.Client.Name, Environment: string(a.Client.Environment), Test: a.Client.Environment == core.Test,
		Org: a.visitor.Org, User: a.visitor.User, Resource: inWords(a.Resource), Destination: destination(a.RedirectURI),
		Request: a.rawQuery, Token: a.visitor.FormToken(question(a.rawQuery)), Address: address(a.rawQuery),
	}
	title := v.Client
	switch a.Client.Kind {
	case access.DocumentClient:
		v.Host = destination(a.Client.ClientID)
		title = v.Host
	case access.DynamicClient:
		v.Unverified = true
		title = "an unverified application" // the name is anybody's to choose
	}
	v.Loopback = a.Client.SecretHash == nil && access.IsLoopbackRedirect(a.RedirectURI)
	v.choices(a)
	login.SetPolicy(w, formTarget(a.RedirectURI))
	p.login.Show(w, r, status, p.consent, "Allow "+title+"?", v)
}

// choices puts the requested scopes in the order of the catalogue. Only what
// reads is marked beforehand; to let something be changed is the person's own act.
func (v *view) choices(a asked) {
	may := a.visitor.Member.Scopes()
	for _, info := range core.ScopeCatalogue() {
		if !a.Scopes.Has(info.Scope) {
			continue
		}
		c := choice{ScopeInfo: info, Lacking: !may.Has(info.Scope)}
		v.Grantable = v.Grantable || !c.Lacking
		if !reads(info.Scope) {
			v.Changes = append(v.Changes, c)
			continue
		}
		c.Checked = !c.Lacking && info.Scope != core.MessagesUnmask
		v.Reads = append(v.Reads, c)
	}
}

// reads reports whether a scope lets nothing be changed.
func reads(s core.Scope) bool {
	return strings.HasSuffix(string(s), ".view") || s == core.MessagesUnmask
}

func inWords(r access.Resource) string {
	if r == access.Agent {
		return "the agent endpoint, where assistants work with tools"
	}
	return "the public API, where programs read and write data"
}

// destination is the host of the redirect URI as people read it.
func destination(redirectURI string) string {
	u, err := url.Parse(redirectURI)
	if err != nil {
		return ""
	}
	return u.Host
}

// formTarget is the redirect URI's origin as a source of a content security
// policy. The grammar has no IPv6 addresses, so for one the scheme has to do.
func formTarget(redirectURI string) string {
	u, err := url.Parse(redirectURI)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	if strings.ContainsFunc(u.Host, notInSource) {
		return u.Scheme + ":"
	}
	return u.Scheme + "://" + u.Host
}

func notInSource(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '.' && c != '-' && c != ':'
}

// elsewhere is what the page says when the client belongs to another organization.
type elsewhere struct {
	Client  string
	Target  *core.Org // nil when the person is not a member of it
	Org     core.Org
	Address string
}

// offerOrg leads to the organization of the client, or says that the person does
// not belong to it. The organization is named to its members alone.
func (p *Page) offerOrg(w http.ResponseWriter, r *http.Request, a asked) {
	orgs, err := p.login.Organizations(r, a.visitor)
	if err != nil {
		p.login.Fail(w, r, err)
		return
	}
	e := elsewhere{Org: a.visitor.Org, Address: address(a.rawQuery)}
	for i := range orgs {
		if orgs[i].ID == a.Client.OrgID {
			e.Client, e.Target = a.Client.Name, &orgs[i]
		}
	}
	p.login.Show(w, r, http.StatusConflict, p.another, "Another organization", e)
}
