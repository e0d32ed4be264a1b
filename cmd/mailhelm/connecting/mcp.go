package connecting

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/cli/browser"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/connecting/bridge"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/connecting/discovery"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/connecting/grants"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/connecting/session"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/connecting/signin"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/connecting/tokens"
)

// MCP is `mailhelm mcp`.
type MCP struct {
	Address string `arg:"" optional:"" default:"http://localhost:8082/mcp" help:"Address of the agent endpoint." placeholder:"URL"`
	SignIn  bool   `help:"Sign in, store the grant, and end. An assistant that starts the bridge later needs no sign-in." once:"" xor:"do"`
	SignOut bool   `help:"Revoke the stored grant, remove it from this machine, and end." once:"" xor:"do"`

	Scope        string `help:"Scopes to request at the sign-in, separated by spaces or commas. Default: those that the endpoint names." placeholder:"SCOPES" once:""`
	ClientID     string `name:"client-id" help:"Client id, or address of a client's metadata document. Default: the bridge registers itself." placeholder:"ID"`
	CallbackPort int    `help:"Port for the answer of the browser, if the client is registered with http://127.0.0.1:PORT/callback. Default: any free port." placeholder:"PORT"`
	NoBrowser    bool   `help:"Do not open the browser; only print the address for the sign-in to standard error."`
	Store        string `help:"Where the grant is kept: keyring (of the operating system), file (mode 0600) or auto: the keyring if there is one." enum:"auto,keyring,file" default:"auto"`
	StoreFolder  string `help:"Folder for the lock and for grants in files, with mode 0700. Default: mailhelm/grants in the user's configuration folder." placeholder:"DIR"`
	JSON         bool   `help:"With --sign-in or --sign-out: print the result as a JSON object."`

	surroundings `kong:"-"`
}

// Help returns the text that --help shows below the summary.
func (MCP) Help() string {
	return `Connects an assistant that only speaks MCP over standard input and output, or that cannot sign in, to the agent endpoint of a Mailhelm server. Assistants that support remote servers with OAuth need no bridge: give them the address.

At first use the bridge opens the browser, where you sign in and choose what the assistant may do. The address for the sign-in is also printed to standard error. The bridge keeps the grant, refreshes its tokens, and shares it with other bridges for the same address. Some assistants wait only a minute for a new server: run the command once with --sign-in before you add it to them.

The bridge changes no message, so it supports every tool and every revision of the protocol that the server supports. Its own errors have the codes 1 (sign in again), 2 (the server cannot be reached) and 3 (the server refused the request).

The bridge registers itself if the server allows that (--dynamic-registration of 'mailhelm serve'). Otherwise pass the id of a public client with --client-id.

Examples:

    mailhelm mcp https://mcp.example.com/mcp --sign-in
    claude mcp add mailhelm -- mailhelm mcp https://mcp.example.com/mcp
    mailhelm mcp https://mcp.example.com/mcp --sign-out`
}

// The attempts to refresh an access token and the pause after the first.
const (
	refreshAttempts = 4
	refreshPause    = 500 * time.Millisecond
)

// answerTimeout is how long the endpoint may work on a call before its answer begins.
const answerTimeout = 5 * time.Minute

// Run connects standard input and output with the agent endpoint until the input ends or the
// process receives a signal. With --sign-in or --sign-out it only changes the stored grant.
func (c *MCP) Run(p *cli.Program) error {
	c.fill()
	s, err := c.session(p)
	if err != nil {
		return err
	}
	switch {
	case c.SignIn:
		return c.signIn(p, s)
	case c.SignOut:
		return c.signOut(p, s)
	}
	client := &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     discovery.Transport(answerTimeout),
	}
	b := bridge.Bridge{
		Address: c.Address, HTTP: client, Tokens: processTokens{p.Ctx, s},
		Help: fmt.Sprintf("Run 'mailhelm mcp %s --sign-in', then restart the assistant.", c.Address),
	}
	return b.Run(p.Ctx, p.Stdin, p.Stdout)
}

// processTokens gives the tokens of a session. It ignores the context of a call: a sign-in
// must not end when a client no longer waits for the first call.
type processTokens struct {
	ctx     context.Context //nolint:containedctx // as long as the process
	session *session.Session
}

// Token implements [bridge.Tokens].
func (t processTokens) Token(context.Context) (string, error) { return t.session.Token(t.ctx) }

// Renew implements [bridge.Tokens].
func (t processTokens) Renew(_ context.Context, refused string) (string, error) {
	return t.session.Renew(t.ctx, refused)
}

// session returns the access to the endpoint, after it has checked the address.
func (c *MCP) session(p *cli.Program) (*session.Session, error) {
	u, err := discovery.CheckAddress(c.Address)
	if err != nil {
		return nil, err
	}
	c.Address = endpointAddress(u)
	if c.StoreFolder == "" {
		if c.StoreFolder, err = grants.DefaultFolder(); err != nil {
			return nil, err
		}
	}
	store, err := grants.Open(c.Store, c.StoreFolder)
	if err != nil {
		return nil, err
	}
	return session.New(session.Config{
		Address: c.Address, Store: store, Folder: c.StoreFolder, HTTP: discovery.Client(), Clock: c.clock,
		Retries: tokens.Retries{Attempts: refreshAttempts, Pause: refreshPause, Wait: c.wait},
		SignIn:  func(ctx context.Context, client string) (session.Signed, error) { return c.ask(ctx, p, client) },
	}), nil
}

// endpointPath is the path of the agent endpoint on a Mailhelm server.
const endpointPath = "/mcp"

// endpointAddress returns the address of the endpoint in one spelling. It adds the path of
// the endpoint to an address without a path.
func endpointAddress(u *url.URL) string {
	path := strings.TrimSuffix(u.EscapedPath(), "/")
	if path == "" {
		path = endpointPath
	}
	return u.Scheme + "://" + strings.ToLower(u.Host) + path
}

// ask finds the authorization server and lets the person sign in there. registered is the
// client id of an earlier sign-in, or "".
func (c *MCP) ask(ctx context.Context, p *cli.Program, registered string) (session.Signed, error) {
	server, err := discovery.Find(ctx, c.Address)
	if err != nil {
		return session.Signed{}, err
	}
	if server.Resource == "" {
		return session.Signed{}, fmt.Errorf("%s is the address of an authorization server: give the address of the agent endpoint", c.Address)
	}
	asking := signin.Asking{
		Clock: c.clock, Server: server, ClientID: c.ClientID, Port: c.CallbackPort,
		Show: func(address string) {
			fmt.Fprintf(p.Stderr, "mailhelm: sign in with your browser to connect to %s:\n%s\n", c.Address, address)
		},
	}
	if asking.ClientID == "" {
		asking.ClientID = registered
	}
	if list := scopes(c.Scope); len(list) > 0 {
		asking.Scopes = list
	}
	if !c.NoBrowser {
		browser.Stdout, browser.Stderr = p.Stderr, p.Stderr // standard output is for messages
		asking.Open = browser.OpenURL
	}
	granted, err := asking.Run(ctx)
	return session.Signed{
		Granted: granted, Issuer: server.Metadata.Issuer, TokenEndpoint: server.Metadata.TokenEndpoint,
		RevokeEndpoint: server.Metadata.RevocationEndpoint, Resource: server.Resource,
	}, err
}

// printedGrant is the object that `mailhelm mcp --sign-in --json` and --sign-out print.
// Scripts rely on its members.
type printedGrant struct {
	Address  string   `json:"address"`
	SignedIn bool     `json:"signed_in"`
	Scopes   []string `json:"scopes,omitempty"`
}

// signIn lets the person sign in and prints what was granted.
func (c *MCP) signIn(p *cli.Program, s *session.Session) error {
	scope, err := s.SignIn(p.Ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return p.PrintJSON(printedGrant{c.Address, true, strings.Fields(scope)})
	}
	_, err = fmt.Fprintf(p.Stdout, "Signed in to %s. Permissions: %s.\n", c.Address, strings.Join(strings.Fields(scope), ", "))
	return err
}

// signOut revokes and removes the stored grant. It returns nil if none is stored.
func (c *MCP) signOut(p *cli.Program, s *session.Session) error {
	err := s.SignOut(p.Ctx)
	if err != nil && !errors.Is(err, grants.ErrNone) {
		return err
	}
	if c.JSON {
		return p.PrintJSON(printedGrant{Address: c.Address})
	}
	text := "Signed out of %s. The grant is revoked and removed from this machine.\n"
	if err != nil {
		text = "No grant for %s is stored on this machine.\n"
	}
	_, err = fmt.Fprintf(p.Stdout, text, c.Address)
	return err
}
