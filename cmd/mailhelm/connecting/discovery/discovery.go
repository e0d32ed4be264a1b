package discovery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// resourceMetadataPath is the well-known path of the metadata of a protected resource (RFC
// 9728 section 3).
const resourceMetadataPath = "/.well-known/oauth-protected-resource"

// Server has what a client needs to get tokens for one resource.
type Server struct {
	// Resource is the URL for which tokens are requested, the "aud" of the tokens. It is ""
	// if the given address was that of the authorization server itself.
	Resource string
	// Scopes has the scopes that the resource names in its challenge; nil for none.
	Scopes []string
	// Metadata is the metadata of the authorization server.
	Metadata *oauthex.AuthServerMeta
}

// Find returns the authorization server for the resource at the address. It sends a request
// without a token, reads the challenge of the answer, and follows it to the metadata. If the
// address belongs to no protected resource, Find tries it as the address of an
// authorization server. The client needs a Transport of its own; see [Client].
func Find(ctx context.Context, client *http.Client, address string) (Server, error) {
	u, err := CheckAddress(address)
	if err != nil {
		return Server{}, err
	}
	challenge, err := challengeOf(ctx, client, address)
	if err != nil {
		return Server{}, err
	}
	resource, failures := findResource(ctx, client, u, challenge.metadata)
	if resource == nil {
		meta, err := auth.GetAuthServerMetadata(ctx, origin(u), client)
		if err != nil || meta == nil {
			return Server{}, fmt.Errorf("%s has no metadata of a protected resource or of an authorization server: check the address: %w", address, errors.Join(failures, err))
		}
		return Server{Metadata: meta}, nil
	}
	if len(resource.AuthorizationServers) == 0 {
		return Server{}, fmt.Errorf("the metadata of %s names no authorization server", resource.Resource)
	}
	issuer := resource.AuthorizationServers[0]
	meta, err := auth.GetAuthServerMetadata(ctx, issuer, client)
	if err == nil && meta == nil {
		err = errors.New("no metadata there")
	}
	if err != nil {
		return Server{}, fmt.Errorf("metadata of the authorization server %s: %w", issuer, err)
	}
	return Server{Resource: resource.Resource, Scopes: challenge.scopes, Metadata: meta}, nil
}

// challenge is the content of a WWW-Authenticate header that matters for discovery.
type challenge struct {
	metadata string   // URL of the metadata of the resource, or ""
	scopes   []string // scopes to request, or nil
}

// probe is the body of the request without a token. The agent endpoint refuses it with 401
// before it reads the body.
const probe = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

// challengeOf sends a request without a token to the address and returns the challenge of
// the answer. The challenge is empty if the answer has none. It fails if the server cannot
// be reached.
func challengeOf(ctx context.Context, client *http.Client, address string) (challenge, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(probe))
	if err != nil {
		return challenge{}, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	answer, err := client.Do(r)
	if err != nil {
		return challenge{}, fmt.Errorf("cannot reach %s: check the address, and that the server runs: %w", address, err)
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10)) // so that the connection is reused
	if answer.StatusCode != http.StatusUnauthorized {
		return challenge{}, nil
	}
	return readChallenge(answer.Header), nil
}

// readChallenge returns the metadata URL and the scopes of the first Bearer challenge in the
// headers of an answer. It ignores a malformed header.
func readChallenge(h http.Header) challenge {
	parsed, err := oauthex.ParseWWWAuthenticate(h.Values("WWW-Authenticate"))
	if err != nil {
		return challenge{}
	}
	for _, c := range parsed {
		if c.Scheme == "bearer" {
			return challenge{c.Params["resource_metadata"], strings.Fields(c.Params["scope"])}
		}
	}
	return challenge{}
}

// findResource returns the metadata of the resource at u, or nil and the errors of all
// attempts. It reads the URL from the challenge first, then the well-known paths. The
// document must be about u or about its origin (RFC 9728 section 3.3).
func findResource(ctx context.Context, client *http.Client, u *url.URL, fromChallenge string) (*oauthex.ProtectedResourceMetadata, error) {
	root := origin(u)
	path := strings.TrimSuffix(u.EscapedPath(), "/")
	documents := []string{root + resourceMetadataPath + path, root + resourceMetadataPath}
	if fromChallenge != "" {
		documents = append([]string{fromChallenge}, documents...)
	}
	var failures error
	for _, document := range documents {
		for _, resource := range []string{root, root + path} {
			found, err := oauthex.GetProtectedResourceMetadata(ctx, document, resource, client)
			if err == nil {
				return found, nil
			}
			failures = errors.Join(failures, err)
		}
	}
	return nil, failures
}

// origin returns scheme, host and port of u.
func origin(u *url.URL) string { return u.Scheme + "://" + u.Host }

// CheckAddress parses an address to which tokens are sent. It must be an https URL, or an
// http URL on the loopback, without a user, query or fragment.
func CheckAddress(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, fmt.Errorf("%q is not a web address such as https://mcp.example.com/mcp", address)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("%s must not have a user, a query or a fragment", u.Redacted())
	case u.Scheme == "http" && !isLoopback(u.Hostname()):
		return nil, fmt.Errorf("%s is not encrypted, and tokens must not be sent over it: use https, or http on this machine only", address)
	}
	return u, nil
}
