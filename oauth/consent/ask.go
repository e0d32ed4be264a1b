package consent

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/oauth/login"
)

// notes are the messages above the consent form when it is shown again.
type notes struct{ Notice, Problem string }

// view is the data of the consent page's template.
type view struct {
	notes
	Client, Environment string
	Test                bool
	// Host is the host of the client's metadata document. For a client with such a document,
	// no other fact is verified. Unverified is true for a client that registered itself: no
	// fact about it is verified.
	Host       string
	Unverified bool
	// Loopback is true if the client has no secret and the redirect goes to a program on the
	// person's own computer. Any local program could then receive the code.
	Loopback bool
	Org      core.Org
	User     access.User
	Resource string
	// Destination is the host of the redirect URI.
	Destination    string
	Reads, Changes []choice
	Grantable      bool

	Request, Token, Address string
}

// choice is one requested scope, which the page shows with a checkbox.
type choice struct {
	core.ScopeInfo
	Checked bool
	// Lacking is true if the person's own permissions do not include the scope.
	Lacking bool
}

// ask writes the consent page with its form.
func (p *Page) ask(w http.ResponseWriter, r *http.Request, status int, a consentRequest, n notes) {
	v := view{
		notes: n, Client: a.Client.Name, Environment: string(a.Client.Environment), Test: a.Client.Environment == core.Test,
		Org: a.visitor.Org, User: a.visitor.User, Resource: resourceText(a.Resource), Destination: destination(a.RedirectURI),
		Request: a.rawQuery, Token: a.visitor.FormToken(question(a.rawQuery)), Address: address(a.rawQuery),
	}
	title := v.Client
	switch a.Client.Kind {
	case access.DocumentClient:
		v.Host = destination(a.Client.ClientID)
		title = v.Host
	case access.DynamicClient:
		v.Unverified = true
		title = "an unverified application" // anyone can choose the name
	}
	v.Loopback = a.Client.SecretHash == nil && access.IsLoopbackRedirect(a.RedirectURI)
	v.choices(a)
	login.SetPolicy(w, formTarget(a.RedirectURI))
	p.login.Show(w, r, status, p.consent, "Allow "+title+"?", v)
}

// choices fills the fields Reads and Changes with the requested scopes, in the order of
// core.ScopeCatalogue. It preselects the scopes for reading that the person's permissions
// include, except api.messages.unmask_recipients. The person must select the scopes that
// allow changes.
func (v *view) choices(a consentRequest) {
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

// reads reports whether a scope allows reading only.
func reads(s core.Scope) bool {
	return strings.HasSuffix(string(s), ".view") || s == core.MessagesUnmask
}

// resourceText returns the text by which the consent page describes a resource, the API or
// the agent endpoint.
func resourceText(r access.Resource) string {
	if r == access.Agent {
		return "the agent endpoint, where assistants call tools"
	}
	return "the public API, where programs read and write data"
}

// destination returns the host of a redirect URI, with the port if the URI has one. The
// consent page shows it.
func destination(redirectURI string) string {
	u, err := url.Parse(redirectURI)
	if err != nil {
		return ""
	}
	return u.Host
}

// formTarget returns the redirect URI's origin as a source expression for the page's
// content security policy. For an IPv6 address it returns only the scheme, because the
// grammar of the policy has no IPv6 addresses.
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

// notInSource reports whether c cannot be part of a host and port in a content security
// policy. Such a character could end the source expression.
func notInSource(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '.' && c != '-' && c != ':'
}

// elsewhere is the data of the page that is shown for a client of another organization.
type elsewhere struct {
	Client  string
	Target  *core.Org // the client's organization; nil if the person is not a member of it
	Org     core.Org
	Address string
}

// offerOrg writes the page that is shown for a client of another organization. If the
// visitor is a member of that organization, the page shows the organization's name and a
// button to switch to the organization. Other visitors do not see the name.
func (p *Page) offerOrg(w http.ResponseWriter, r *http.Request, a consentRequest) {
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
