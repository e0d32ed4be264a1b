package discovery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// resourceMetadataPath is the well-known path of the metadata of a protected resource (RFC
// 9728 section 3).
const resourceMetadataPath = "/.well-known/oauth-protected-resource"

// Server has what a client needs to get tokens for one resource. [Find] returns it.
type Server struct {
	// Resource is the URL for which tokens are requested, the "aud" of the tokens. It is ""
	// if the given address was that of the authorization server itself.
	Resource string
	// Scopes has the scopes that the resource names in its challenge; nil for none.
	Scopes []string
	// Metadata is the metadata of the authorization server. Its endpoints for authorization,
	// tokens, registration and revocation are checked; see [Server.CheckEndpoint]. The other
	// addresses are not.
	Metadata *oauthex.AuthServerMeta
	// HTTP is the client for requests to the endpoints. It follows no redirects. It connects
	// to private IP addresses only if the server at the given address has one, and to the
	// loopback only if that server is on this machine.
	HTTP *http.Client

	reach *reach
}

// Find returns the authorization server for the resource at the address. It sends a request
// without a token, reads the challenge of the answer, and follows it to the metadata. If the
// address belongs to no protected resource, Find tries it as the address of an
// authorization server. It fails if the metadata are about another resource or issuer, or
// name an address at which tokens would not be safe.
func Find(ctx context.Context, address string) (Server, error) {
	u, err := CheckAddress(address)
	if err != nil {
		return Server{}, err
	}
	r := newReach(u)
	return find(ctx, finder{clientOf(r.transport()), r}, u)
}

// find is [Find] for an address that is checked.
func find(ctx context.Context, f finder, u *url.URL) (Server, error) {
	challenge, err := f.challenge(ctx, u.String())
	if err != nil {
		return Server{}, err
	}
	found := Server{HTTP: f.client, reach: f.reach}
	resource, failures := f.resource(ctx, u, challenge.metadata)
	if resource == nil {
		found.Metadata, err = f.authorizationServer(ctx, origin(u))
		if err != nil {
			return Server{}, fmt.Errorf("%v has no metadata of a protected resource or of an authorization server: check the address: %w", u, errors.Join(failures, err))
		}
		return found, nil
	}
	if len(resource.AuthorizationServers) == 0 {
		return Server{}, fmt.Errorf("the metadata of %s names no authorization server", resource.Resource)
	}
	found.Resource, found.Scopes = resource.Resource, challenge.scopes
	if found.Metadata, err = f.authorizationServer(ctx, resource.AuthorizationServers[0]); err != nil {
		return Server{}, fmt.Errorf("metadata of the authorization server %s: %w", resource.AuthorizationServers[0], err)
	}
	return found, nil
}

// CheckEndpoint returns an error if the address of an endpoint is not one to which tokens
// may be sent, or that a browser may open. It must be an https URL, or an http URL on the
// loopback if the given address is on the loopback. It must not be nearer to this machine
// than the server at the given address. name is the member of the metadata.
func (s Server) CheckEndpoint(name, address string) error {
	_, err := s.reach.check(name, address)
	return err
}

// challenge is the content of a WWW-Authenticate header that matters for discovery.
type challenge struct {
	metadata string   // URL of the metadata of the resource, or ""
	scopes   []string // scopes to request, or nil
}

// probe is the body of the request without a token. The agent endpoint refuses it with 401
// before it reads the body.
const probe = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

// challenge sends a request without a token to the address and returns the challenge of the
// answer. The challenge is empty if the answer has none. It fails if the server cannot be
// reached. It takes the place of the server from the connection.
func (f finder) challenge(ctx context.Context, address string) (challenge, error) {
	var remote net.Addr
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { remote = i.Conn.RemoteAddr() }})
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(probe))
	if err != nil {
		return challenge{}, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	answer, err := f.client.Do(r)
	if err != nil {
		return challenge{}, fmt.Errorf("cannot reach %s: check the address, and that the server runs: %w", address, err)
	}
	defer answer.Body.Close()
	if t, ok := f.client.Transport.(*http.Transport); ok && t.DialContext != nil { // else it is the address of a proxy
		f.reach.observe(remote)
	}
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
