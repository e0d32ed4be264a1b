package connecting

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/connecting/discovery"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/connecting/tokens"
	"github.com/mailhelm/mailhelm/core"
)

// Token is `mailhelm token`.
type Token struct {
	Client     string `help:"Client id of an OAuth client with a secret." placeholder:"ID" required:""`
	SecretFile string `help:"File with the secret of the client; - for standard input. Default: the variable MAILHELM_CLIENT_SECRET." placeholder:"FILE"`
	// ClientSecret is usually set by the environment, because other users of the machine can
	// read command lines.
	ClientSecret string `help:"Secret of the client. Other users of the machine can read it on the command line: prefer the variable." placeholder:"SECRET" secret:"whole"`
	Server       string `help:"Address of the API, the agent endpoint or the authorization server. Default: ${default}." default:"http://localhost:8080" placeholder:"URL"`
	Resource     string `help:"Resource that the token is for. Default: the one at the address of --server." placeholder:"URL" once:""`
	Scope        string `help:"Scopes to request, separated by spaces or commas. Default: all scopes of the client." placeholder:"SCOPES" once:""`
	Out          string `help:"File for the token, readable by its owner only, instead of standard output." placeholder:"FILE" once:""`
	Watch        bool   `help:"Keep running, and get the next token before each one ends." once:""`
	JSON         bool   `help:"Print a JSON object with the token, its end, scope and resource."`

	surroundings `kong:"-"`
}

// surroundings has what tests replace. The zero value is for the real program.
type surroundings struct {
	clock core.Clock
	wait  func(context.Context, time.Duration) error
}

// Help returns the text that --help shows below the summary.
func (Token) Help() string {
	return `Gets an access token with the id and the secret of an OAuth client (client credentials), for programs that run without a person. Create such a client on the dashboard's page "Applications and access", or with 'mailhelm admin client create'. The address of the server is enough: the command finds the authorization server by the metadata there.

An access token ends after 15 minutes and is for one resource: for the API by default, for the agent endpoint if --server is its address. With --watch the command stays and gets the next token three minutes before the end. It prints each token on a line of its own; with --out it replaces the file in one step, so that readers never see a partial token. A signal ends it with status 0.

If the server cannot be reached, the command repeats the request with growing pauses: 4 times, with --watch 8 times. It then ends with status 1. It does not repeat a refused request.

Examples:

    mailhelm token --client oc_live_... --secret-file secret.txt
    mailhelm token --client oc_live_... --server https://mcp.example.com/mcp --secret-file - --json < secret.txt
    mailhelm token --client oc_live_... --watch --out /run/agent/token`
}

// printedToken is the object that `mailhelm token --json` prints. Scripts rely on its
// members.
type printedToken struct {
	AccessToken string    `json:"access_token"`
	TokenType   string    `json:"token_type"`
	ExpiresAt   time.Time `json:"expires_at"`
	Scope       string    `json:"scope"`
	Resource    string    `json:"resource"`
}

// The attempts to get a token and the pause after the first. With --watch the pauses of 8
// attempts are two minutes together, less than the time that the old token is still valid.
const (
	attempts      = 4
	watchAttempts = 8
	firstPause    = time.Second
)

// Run prints a token. With --watch it prints tokens until the process receives a signal,
// and then returns nil.
func (c *Token) Run(p *cli.Program) error {
	c.fill()
	secret, err := c.secret(p.Stdin)
	if err != nil {
		return err
	}
	retries := tokens.Retries{Attempts: attempts, Pause: firstPause, Wait: c.wait}
	if c.Watch {
		retries.Attempts = watchAttempts
	}
	client := tokens.Client{ID: c.Client, Secret: secret, Clock: c.clock}
	request := func() (tokens.Token, error) {
		if err := c.find(p.Ctx, &client); err != nil {
			return tokens.Token{}, err
		}
		return client.ByCredentials(p.Ctx, c.Resource, scopes(c.Scope))
	}
	err = c.print(p, func() (tokens.Token, error) { return retries.Do(p.Ctx, request) })
	if c.Watch && errors.Is(p.Ctx.Err(), context.Canceled) {
		return nil // a signal ended the command
	}
	return err
}

// find sets the HTTP client and the token endpoint of the client, and the resource if the command line names
// none. It does nothing if the endpoint is set.
func (c *Token) find(ctx context.Context, client *tokens.Client) error {
	if client.Endpoint != "" {
		return nil
	}
	server, err := discovery.Find(ctx, c.Server)
	if err != nil {
		return err
	}
	client.HTTP, client.Endpoint = server.HTTP, server.Metadata.TokenEndpoint
	if c.Resource == "" {
		c.Resource = server.Resource
	}
	return nil
}

// fill sets what tests may have left out.
func (s *surroundings) fill() {
	if s.clock == nil {
		s.clock = core.SystemClock
	}
	if s.wait == nil {
		s.wait = core.Sleep
	}
}

// secret returns the secret of the client, from the file, standard input or the flag.
func (c *Token) secret(stdin io.Reader) (string, error) {
	var raw []byte
	var err error
	switch {
	case c.SecretFile != "" && c.ClientSecret != "":
		return "", errors.New("the secret is given twice: leave out --secret-file, or the variable MAILHELM_CLIENT_SECRET")
	case c.SecretFile == "-":
		raw, err = io.ReadAll(io.LimitReader(stdin, maxSecret))
	case c.SecretFile != "":
		raw, err = os.ReadFile(c.SecretFile)
	default:
		raw = []byte(c.ClientSecret)
	}
	if err != nil {
		return "", fmt.Errorf("the secret of the client: %w", err)
	}
	secret := strings.TrimSpace(string(raw))
	if secret == "" {
		return "", errors.New("the secret of the client is missing: set the variable MAILHELM_CLIENT_SECRET, or name a file with --secret-file")
	}
	return secret, nil
}

// scopes splits a list of scopes, separated by spaces or commas.
func scopes(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ' ' || r == ',' })
}

// maxSecret is the largest secret that is read from standard input, in bytes.
const maxSecret = 4 << 10
