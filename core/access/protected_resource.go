package access

import (
	"net/url"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// ProtectedResourcePath is where a resource host serves its metadata (RFC 9728
// section 3).
const ProtectedResourcePath = "/.well-known/oauth-protected-resource"

// ProtectedResource is the metadata document of a resource host (RFC 9728
// section 2). It tells a client that was answered 401 where to get a token.
type ProtectedResource struct {
	Resource               string   `json:"resource"`
	AuthorizationServers   []string `json:"authorization_servers"`
	ScopesSupported        []string `json:"scopes_supported"`
	BearerMethodsSupported []string `json:"bearer_methods_supported"`
	ResourceName           string   `json:"resource_name"`
	ResourceDocumentation  string   `json:"resource_documentation,omitempty"`
}

// NewProtectedResource builds the document of the host with the address
// resource, which is the `aud` of its tokens. issuer is the authorization
// server's, byte for byte as its own metadata says it. docs may be "".
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

// MetadataURL is the address of the document: the well-known path put between
// the resource's host and its path (RFC 9728 section 3.1).
func (r ProtectedResource) MetadataURL() string {
	u, err := url.Parse(r.Resource)
	if err != nil {
		return r.Resource
	}
	path := strings.TrimSuffix(u.Path, "/")
	return u.Scheme + "://" + u.Host + ProtectedResourcePath + path
}

// Challenge is what a 401 or 403 of a resource host says in WWW-Authenticate
// (RFC 6750 section 3, RFC 9728 section 5.1). Empty members are left out; a
// request that carried no credential gets no Error (RFC 6750 section 3.1).
type Challenge struct {
	Realm            string
	Error            string // invalid_token or insufficient_scope
	ErrorDescription string
	Scope            string // space-delimited: what to ask for
	ResourceMetadata string
}

// String is the value of the WWW-Authenticate header.
func (c Challenge) String() string {
	var b strings.Builder
	b.WriteString("Bearer")
	separator := " "
	for _, p := range []struct{ name, value string }{
		{"realm", escape(c.Realm)},
		{"error", plain(c.Error)},
		{"error_description", plain(c.ErrorDescription)},
		{"scope", plain(c.Scope)},
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

// escape makes the inside of a quoted-string (RFC 9110 section 5.6.4). What has
// no place in a header at all is dropped.
func escape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(printable(s))
}

// plain keeps to the characters that RFC 6750 section 3 allows in error,
// error_description and scope: those two of ASCII are excluded that would need
// an escape, because clients are known to split at quotes.
func plain(s string) string {
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
