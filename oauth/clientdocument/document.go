package clientdocument

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// The limits of a metadata document. They are the same as for registered clients.
const (
	maxName         = 100 // in characters; a longer name is shortened
	maxRedirectURIs = 20
)

// document has the supported members of a metadata document (RFC 7591 section 2). Other
// members are ignored. A null counts as absent, except in client_secret and
// client_secret_expires_at.
type document struct {
	ClientID      *string        `json:"client_id"`
	Name          *string        `json:"client_name"`
	RedirectURIs  []string       `json:"redirect_uris"`
	GrantTypes    []string       `json:"grant_types"`
	AuthMethod    *string        `json:"token_endpoint_auth_method"`
	Scope         *string        `json:"scope"`
	Secret        jsontext.Value `json:"client_secret"`
	SecretExpires jsontext.Value `json:"client_secret_expires_at"`
}

// readDocument parses the metadata document fetched from u and checks all rules for it.
func readDocument(u clientURL, body []byte) (access.ClientDocument, error) {
	d, err := decode(body)
	if err != nil {
		return access.ClientDocument{}, err
	}
	for _, check := range []func(clientURL, document) error{checkSelf, checkAuthentication, checkGrants, checkRedirects} {
		if err := check(u, d); err != nil {
			return access.ClientDocument{}, err
		}
	}
	scope, err := declaredScope(d)
	if err != nil {
		return access.ClientDocument{}, err
	}
	return access.ClientDocument{ClientID: u.text, Name: displayName(u, d), RedirectURIs: d.RedirectURIs, Scope: scope}, nil
}

// decode parses a metadata document. Names of members are case-sensitive, and duplicate
// members are an error.
func decode(body []byte) (document, error) {
	if err := core.CheckJSON(body); err != nil {
		text := "The application's metadata document is not valid JSON."
		if e, ok := errors.AsType[*core.Error](err); ok && len(e.Fields) == 1 {
			text = "The application's metadata document " + e.Fields[0].Reason + "."
		}
		return document{}, refuseFor(text, err)
	}
	if !strings.HasPrefix(strings.TrimLeft(string(body), " \t\r\n"), "{") {
		return document{}, refuse("The application's metadata document is not a JSON object.")
	}
	var d document
	if err := json.Unmarshal(body, &d); err != nil {
		text := "The application's metadata document has a member of the wrong type."
		if e, ok := errors.AsType[*json.SemanticError](err); ok {
			// The name is safe to show. The JSON pointer begins with the name of a member of
			// the type document, not with a name chosen by the client.
			name, _, _ := strings.Cut(strings.TrimPrefix(string(e.JSONPointer), "/"), "/")
			text = "In the application's metadata document, " + name + " has the wrong type."
		}
		return document{}, refuseFor(text, err)
	}
	return d, nil
}

// checkSelf checks that the document's client_id is the URL from which the document was
// fetched. So a copy of the document at another URL registers no client.
func checkSelf(u clientURL, d document) error {
	if d.ClientID == nil {
		return refuse("The application's metadata document has no client_id.")
	}
	if named, err := canonical(*d.ClientID); err != nil || named.text != u.text {
		return refuse("The application's metadata document has a client_id that differs from the address of the document.")
	}
	return nil
}

// checkAuthentication refuses a client secret and every authentication method except none,
// because everyone can read the document.
func checkAuthentication(_ clientURL, d document) error {
	if d.Secret != nil || d.SecretExpires != nil {
		return refuse("The application's metadata document must not hold a client secret.")
	}
	if d.AuthMethod != nil && *d.AuthMethod != "none" {
		return refuse("The application's metadata document must have token_endpoint_auth_method none.")
	}
	return nil
}

// checkGrants requires the grant type authorization_code and refuses client_credentials.
// Without grant_types, RFC 7591 means authorization_code alone.
func checkGrants(_ clientURL, d document) error {
	switch {
	case d.GrantTypes != nil && !slices.Contains(d.GrantTypes, "authorization_code"):
		return refuse("The application's metadata document must have authorization_code among its grant_types.")
	case slices.Contains(d.GrantTypes, "client_credentials"):
		return refuse("The application's metadata document must not have client_credentials among its grant_types.")
	}
	return nil
}

// checkRedirects checks the redirect URIs. Each must have the origin of the document or be
// on the loopback, the person's own computer.
func checkRedirects(u clientURL, d document) error {
	switch {
	case len(d.RedirectURIs) == 0:
		return refuse("The application's metadata document has no redirect_uris.")
	case len(d.RedirectURIs) > maxRedirectURIs:
		return refuse("The application's metadata document must have at most 20 redirect_uris.")
	}
	for i, uri := range d.RedirectURIs {
		entry := "In the application's metadata document, number " + strconv.Itoa(i+1) + " of the redirect_uris "
		if err := access.CheckRedirectURI(uri); err != nil {
			return refuse(entry + err.Error() + ".")
		}
		if !isLoopback(uri) && !isSameOrigin(u, uri) {
			return refuse(entry + "must be on the host and port of the document, or http on localhost, 127.0.0.1 or [::1].")
		}
	}
	return nil
}

// isLoopback reports whether a valid redirect URI is on the loopback.
// [access.CheckRedirectURI] allows http only there.
func isLoopback(uri string) bool { return strings.HasPrefix(uri, "http://") }

// isSameOrigin reports whether a valid redirect URI has the scheme, host and port of the
// document (RFC 6454 section 5). It compares text, because the checks before it allow only
// one spelling apart from case and port 443.
func isSameOrigin(u clientURL, uri string) bool {
	authority, ok := strings.CutPrefix(uri, "https://")
	if !ok {
		return false
	}
	if end := strings.IndexAny(authority, "/?#"); end >= 0 {
		authority = authority[:end]
	}
	authority = strings.ToLower(authority)
	return authority == u.authority() || u.port == "" && authority == u.host+":443"
}

// declaredScope returns the scopes in the document that Mailhelm knows, and ignores others,
// because documents are written for many servers (RFC 7591 section 2). It fails if no known
// scope is left, because an empty list would allow any scope.
func declaredScope(d document) ([]string, error) {
	if d.Scope == nil {
		return nil, nil
	}
	var scope []string
	for name := range strings.SplitSeq(*d.Scope, " ") {
		if core.Scope(name).IsKnown() && !slices.Contains(scope, name) {
			scope = append(scope, name)
		}
	}
	if len(scope) == 0 {
		return nil, refuse("The application's metadata document declares no scope of this server.")
	}
	return scope, nil
}

// displayName returns the client's name, cleaned for display because a client can choose
// any text. If the document has no usable name, displayName returns the host of the client
// id.
func displayName(u clientURL, d document) string {
	if d.Name != nil {
		if name := core.Quotable(*d.Name, maxName); name != "" {
			return name
		}
	}
	return u.host
}
