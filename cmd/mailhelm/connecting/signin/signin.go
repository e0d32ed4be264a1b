package signin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/connecting/discovery"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/connecting/tokens"
	"github.com/mailhelm/mailhelm/core"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// timeLimit is how long a person has to sign in.
const timeLimit = 5 * time.Minute

// callbackPath is the path of the redirect URI.
const callbackPath = "/callback"

// clientName is the name under which the program registers itself.
const clientName = "Mailhelm bridge"

// ErrTimeLimit means that the person did not sign in within the time limit.
var ErrTimeLimit = fmt.Errorf("the sign-in in the browser was not finished within %v", timeLimit)

// Asking describes one sign-in.
type Asking struct {
	Clock  core.Clock
	Server discovery.Server
	// ClientID is the client id or the URL of a client's metadata document. If it is "", the
	// program registers itself (RFC 7591).
	ClientID string
	// Scopes has the scopes to request. If it is nil, those of the resource's challenge are
	// requested.
	Scopes []string
	// Port is the port of the redirect URI, for clients that are registered with one. 0 means
	// any free port.
	Port int
	// Show tells the person the address to open. Open opens it in the browser; it may be nil.
	// Show is called first, and an error of Open is ignored, because the person can open the
	// address by hand.
	Show func(address string)
	Open func(address string) error
}

// Granted is the result of a sign-in. If the sign-in fails, it has only the id of the client,
// or "" if the program did not get as far.
type Granted struct {
	ClientID string
	Token    tokens.Token
}

// Run lets the person sign in, and returns the tokens. It fails if the person refuses, and
// with ErrTimeLimit if the person does not answer in five minutes. An error of the token
// endpoint has a code; see tokens.Code.
func (a Asking) Run(ctx context.Context) (Granted, error) {
	// Find has checked the endpoint. It is checked again here, because the system's opener
	// starts any program for an address that is not a web address.
	if err := a.Server.CheckEndpoint("authorization_endpoint", a.Server.Metadata.AuthorizationEndpoint); err != nil {
		return Granted{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeLimit, ErrTimeLimit)
	defer cancel()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(a.Port)))
	if err != nil {
		return Granted{}, fmt.Errorf("listen for the answer of the browser: %w", err)
	}
	redirect := "http://" + listener.Addr().String() + callbackPath
	client, err := a.client(ctx)
	if err != nil {
		_ = listener.Close() // the first error says more
		return Granted{}, err
	}
	state, verifier := oauth2.GenerateVerifier(), oauth2.GenerateVerifier()
	back := awaitCallback(listener, state)
	defer back.close()
	address := a.address(client, redirect, state, verifier)
	a.Show(address)
	if a.Open != nil {
		_ = a.Open(address) // Show has printed the address
	}
	answer, err := back.wait(ctx)
	if err != nil {
		return Granted{ClientID: client}, err
	}
	code, err := a.read(answer)
	if err != nil {
		return Granted{ClientID: client}, err
	}
	redeeming := tokens.Client{HTTP: a.Server.HTTP, Endpoint: a.Server.Metadata.TokenEndpoint, ID: client, Clock: a.Clock}
	token, err := redeeming.ByCode(ctx, code, verifier, redirect, a.Server.Resource)
	if err != nil {
		return Granted{ClientID: client}, tokens.Explain(err)
	}
	return Granted{client, token}, nil
}

// client returns the client id. It registers the program if no id is given.
func (a Asking) client(ctx context.Context) (string, error) {
	meta := a.Server.Metadata
	if a.ClientID != "" {
		return a.ClientID, nil
	}
	if meta.RegistrationEndpoint == "" {
		return "", fmt.Errorf("the server %s does not let clients register themselves: ask its operator for a client id and pass it with --client-id, or for the setting --dynamic-registration", meta.Issuer)
	}
	registered, err := oauthex.RegisterClient(ctx, meta.RegistrationEndpoint, &oauthex.ClientRegistrationMetadata{
		ClientName: clientName, ApplicationType: "native", TokenEndpointAuthMethod: "none",
		// The server accepts any port for a loopback redirect URI (RFC 8252 section 7.3).
		RedirectURIs: []string{"http://127.0.0.1" + callbackPath},
		GrantTypes:   []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
	}, a.Server.HTTP)
	if err != nil {
		return "", fmt.Errorf("register at %s: %w", meta.Issuer, err)
	}
	return registered.ClientID, nil
}

// address returns the address at which the person signs in and grants the access.
func (a Asking) address(client, redirect, state, verifier string) string {
	config := oauth2.Config{
		ClientID: client, RedirectURL: redirect, Scopes: a.Scopes,
		Endpoint: oauth2.Endpoint{AuthURL: a.Server.Metadata.AuthorizationEndpoint},
	}
	if config.Scopes == nil {
		config.Scopes = a.Server.Scopes
	}
	return config.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier), oauth2.SetAuthURLParam("resource", a.Server.Resource))
}

// read returns the authorization code of an answer whose state is right. It fails if the
// person refused, and if the answer comes from another authorization server (RFC 9207).
func (a Asking) read(answer url.Values) (string, error) {
	meta := a.Server.Metadata
	if issuer := answer.Get("iss"); issuer != meta.Issuer && (issuer != "" || meta.AuthorizationResponseIssParameterSupported) {
		return "", fmt.Errorf("the answer names the authorization server %q instead of %q", issuer, meta.Issuer)
	}
	switch code := answer.Get("error"); {
	case code == "access_denied":
		return "", errors.New("the access was refused in the browser")
	case code != "":
		return "", fmt.Errorf("the authorization server answered %q", cmp.Or(answer.Get("error_description"), code))
	}
	return answer.Get("code"), nil
}
