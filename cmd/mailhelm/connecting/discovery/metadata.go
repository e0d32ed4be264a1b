package discovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// maxMetadata is the size of the largest metadata document in bytes.
const maxMetadata = 1 << 20

// statusError is the error for an answer with another status than 200.
type statusError int

func (e statusError) Error() string { return fmt.Sprintf("status %d", int(e)) }

// finder reads the metadata of one server. It replaces the functions of the library go-sdk,
// which refuse every private IP address and permit other schemes than https on localhost.
type finder struct {
	client *http.Client
	reach  *reach
}

// read decodes the JSON document at the address into the value to which into points. It
// fails with a statusError if the status is not 200.
func (f finder) read(ctx context.Context, address string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "application/json")
	answer, err := f.client.Do(r)
	if refused, ok := errors.AsType[*outOfReach](err); ok {
		return refused // repeating the request does not help
	}
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return statusError(answer.StatusCode)
	}
	if kind, _, err := mime.ParseMediaType(answer.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return fmt.Errorf("the content type is %q instead of application/json", answer.Header.Get("Content-Type"))
	}
	return json.NewDecoder(io.LimitReader(answer.Body, maxMetadata)).Decode(into)
}

// resource returns the metadata of the resource at u, or nil and the errors of all attempts.
// It reads the document from the challenge first, then the well-known ones, that of the path
// before that of the origin.
//
// A document is used only if it is about the expected resource (RFC 9728 section 3.3): one
// from the challenge about u, a well-known one about the URL into which the well-known path
// was inserted. So the metadata of a whole origin applies only if the root of the origin
// serves it, not if one path of the origin claims to speak for all.
func (f finder) resource(ctx context.Context, u *url.URL, fromChallenge string) (*oauthex.ProtectedResourceMetadata, error) {
	root, path := origin(u), strings.TrimSuffix(u.EscapedPath(), "/")
	type document struct{ address, about string }
	documents := []document{{root + resourceMetadataPath + path, root + path}, {root + resourceMetadataPath, root}}
	if first := slices.IndexFunc(documents, func(d document) bool { return d.address == fromChallenge }); first >= 0 {
		documents = []document{documents[first], documents[1-first]}
	} else if fromChallenge != "" {
		documents = slices.Insert(documents, 0, document{fromChallenge, root + path})
	}
	var failures error
	for _, d := range slices.Compact(documents) {
		found, err := f.resourceAt(ctx, d.address, d.about)
		if err == nil {
			return found, nil
		}
		failures = errors.Join(failures, err)
	}
	return nil, failures
}

// resourceAt returns the metadata at the address. It fails if they are about another
// resource.
func (f finder) resourceAt(ctx context.Context, address, about string) (*oauthex.ProtectedResourceMetadata, error) {
	if _, err := f.reach.check("resource_metadata", address); err != nil {
		return nil, err
	}
	var found oauthex.ProtectedResourceMetadata
	if err := f.read(ctx, address, &found); err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	if found.Resource != about {
		return nil, fmt.Errorf("%s is about the resource %q instead of %s", address, found.Resource, about)
	}
	return &found, nil
}

// authorizationServer returns the metadata of an authorization server (RFC 8414, or OpenID
// Connect Discovery), after it has checked them.
func (f finder) authorizationServer(ctx context.Context, issuer string) (*oauthex.AuthServerMeta, error) {
	u, err := f.reach.check("the authorization server", issuer)
	if err != nil {
		return nil, err
	}
	for _, address := range serverMetadata(u) {
		var found oauthex.AuthServerMeta
		err := f.read(ctx, address, &found)
		if status, ok := errors.AsType[statusError](err); ok && status >= 400 && status < 500 {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", address, err)
		}
		return &found, f.checkServer(&found, issuer)
	}
	return nil, fmt.Errorf("%s has no metadata of an authorization server", issuer)
}

// serverMetadata returns the addresses at which the metadata of an issuer may be, in the
// order of the specification of MCP.
func serverMetadata(issuer *url.URL) []string {
	root, path := origin(issuer), strings.TrimSuffix(issuer.EscapedPath(), "/")
	documents := []string{root + "/.well-known/oauth-authorization-server" + path, root + "/.well-known/openid-configuration" + path}
	if path != "" {
		documents = append(documents, root+path+"/.well-known/openid-configuration")
	}
	return documents
}

// checkServer checks the metadata of the authorization server at the issuer: the issuer, the
// support of PKCE, and the addresses that this program uses or opens.
func (f finder) checkServer(m *oauthex.AuthServerMeta, issuer string) error {
	if strings.TrimSuffix(m.Issuer, "/") != strings.TrimSuffix(issuer, "/") {
		return fmt.Errorf("the metadata of %s are those of the issuer %q", issuer, m.Issuer)
	}
	if !slices.Contains(m.CodeChallengeMethodsSupported, "S256") {
		return fmt.Errorf("the authorization server %s does not support PKCE with S256", issuer)
	}
	for _, named := range []struct{ name, address string }{
		{"authorization_endpoint", m.AuthorizationEndpoint},
		{"token_endpoint", m.TokenEndpoint},
		{"registration_endpoint", m.RegistrationEndpoint},
		{"revocation_endpoint", m.RevocationEndpoint},
	} {
		if named.address == "" {
			continue // an endpoint that the server does not have
		}
		if _, err := f.reach.check(named.name, named.address); err != nil {
			return fmt.Errorf("metadata of %s: %w", issuer, err)
		}
	}
	return nil
}

// origin returns scheme, host and port of u.
func origin(u *url.URL) string { return u.Scheme + "://" + u.Host }
