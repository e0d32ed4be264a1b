package bearer

import (
	"net/url"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// ProtectedResourcePath is the path at which a resource host serves its metadata (RFC 9728
// section 3).
const ProtectedResourcePath = "/.well-known/oauth-protected-resource"

// ProtectedResource is the metadata document of a host that accepts access tokens (RFC 9728
// section 2). A client that got status 401 reads in it which authorization server to use.
type ProtectedResource struct {
	Resource               string   `json:"resource"`
	AuthorizationServers   []string `json:"authorization_servers"`
	ScopesSupported        []string `json:"scopes_supported"`
	BearerMethodsSupported []string `json:"bearer_methods_supported"`
	ResourceName           string   `json:"resource_name"`
	ResourceDocumentation  string   `json:"resource_documentation,omitempty"`
}

// NewProtectedResource returns the metadata document of a host. resource is the URL of the
// host and the "aud" of its access tokens. The issuer must equal, byte for byte, the issuer
// in the metadata of the authorization server. docs, the URL of the documentation, may be
// "".
func NewProtectedResource(resource, issuer, name, docs string, scopes core.Scopes) ProtectedResource {
	return ProtectedResource{
		Resource:               resource,
		AuthorizationServers:   []string{issuer},
		ScopesSupported:        scopes.Strings(),
		BearerMethodsSupported: []string{"header"},
		ResourceName:           name,
		ResourceDocumentation:  docs,
	}
}

// MetadataURL returns the URL of the metadata document: the well-known path is inserted
// between the resource's host and its path (RFC 9728 section 3.1).
func (r ProtectedResource) MetadataURL() string {
	u, err := url.Parse(r.Resource)
	if err != nil {
		return r.Resource
	}
	path := strings.TrimSuffix(u.Path, "/")
	return u.Scheme + "://" + u.Host + ProtectedResourcePath + path
}

// Challenge is the content of the WWW-Authenticate header in a 401 or 403 response (RFC
// 6750 section 3, RFC 9728 section 5.1). Empty fields are omitted. A request without a
// credential gets no Error (RFC 6750 section 3.1).
type Challenge struct {
	Realm            string
	Error            string // invalid_token or insufficient_scope
	ErrorDescription string
	Scope            string // scopes to request, separated by spaces
	ResourceMetadata string
}

// Challenge returns the challenge for a request that was refused with the error e. needs
// has the scopes that the request needs, separated by spaces. presented says whether the
// request had a credential.
func (r ProtectedResource) Challenge(e *core.Error, needs string, presented bool) Challenge {
	c := Challenge{Realm: r.ResourceName, Scope: needs, ResourceMetadata: r.MetadataURL()}
	switch {
	case e.Code == core.CodeInvalidScope:
		c.Error = "insufficient_scope"
	case presented:
		c.Error = "invalid_token"
	}
	return c
}

// String returns the value of the WWW-Authenticate header.
func (c Challenge) String() string {
	var b strings.Builder
	b.WriteString("Bearer")
	separator := " "
	for _, p := range []struct{ name, value string }{
		{"realm", escape(c.Realm)},
		{"error", headerText(c.Error)},
		{"error_description", headerText(c.ErrorDescription)},
		{"scope", headerText(c.Scope)},
		{"resource_metadata", escape(c.ResourceMetadata)},
	} {
		if p.value == "" {
			continue
		}
		b.WriteString(separator + p.name + `="` + p.value + `"`)
		separator = ", "
	}
	return b.String()
}

// escape returns s escaped for use between the quotes of a quoted-string (RFC 9110 section
// 5.6.4), without characters that a header cannot hold.
func escape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(printable(s))
}

// headerText returns s without the characters that RFC 6750 section 3 forbids in the
// header's parameters error, error_description and scope. Quotes and backslashes are
// replaced, because some clients split the header at quotes.
func headerText(s string) string {
	return strings.NewReplacer(`\`, "/", `"`, "'").Replace(printable(s))
}

func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r > 0x7e {
			return -1
		}
		return r
	}, s)
}
