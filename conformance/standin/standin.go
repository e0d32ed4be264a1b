package standin

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/bearer"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	"github.com/mailhelm/mailhelm/tools"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/prometheus/client_golang/prometheus"
)

// Config has the settings of an endpoint for a test. Either Operations or Fixtures is
// required.
type Config struct {
	// Operations are served as tools, even if the product's table of tools does not list
	// them.
	Operations []core.Operation
	// Fixtures are tools without an operation. They test images, requests for input and
	// progress.
	Fixtures []Fixture
	// AllowedOrigins has the web origins whose pages may call the endpoint.
	AllowedOrigins []string
	// DB is the database; nil means a new SQLite database for the test.
	DB *storage.DB
	// Callers authenticates callers; nil means one client with all scopes and the token
	// [Token].
	Callers guardrails.Authenticator
	// Repositories opens pull requests. nil means that no repository host is connected.
	Repositories guardrails.RepositoryHost
	// Clock is the clock of the endpoint; nil means a clock that does not advance.
	Clock core.Clock
	// Metrics registers the endpoint's metrics; nil discards them.
	Metrics prometheus.Registerer
}

// Fixture is a tool without an operation; see [tools.Server.AddTool].
type Fixture struct {
	// Tool is the declaration of the tool in tools/list.
	Tool *mcp.Tool
	// Handler answers the calls of the tool, without the checks of package guardrails. It
	// must return a new result for each call.
	Handler mcp.ToolHandler
}

// Token is the access token of the client that exists if Config.Callers is nil.
const Token = "token"

// Serve starts an agent endpoint and returns its base URL. The endpoint stops when the test
// ends. Endpoints with the same database behave like processes of one installation: they
// share the key that signs confirmation tokens.
func Serve(t *testing.T, cfg Config) string {
	t.Helper()
	if cfg.Clock == nil {
		now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
		cfg.Clock = func() time.Time { return now }
	}
	if cfg.DB == nil {
		cfg.DB = storagetest.SQLite(t)
	}
	if cfg.Callers == nil {
		cfg.Callers = oneClient(t, cfg.DB, cfg.Clock)
	}
	log := slog.New(slog.DiscardHandler)
	guard := guardrails.New(guardrails.Config{
		Authenticator: cfg.Callers, Transactor: cfg.DB, Replays: cfg.DB.Replay(), Audit: cfg.DB.Audit(), Repositories: cfg.Repositories,
		ConfirmationSecret: bytes.Repeat([]byte{1}, guardrails.ConfirmationSecretBytes),
		Clock:              cfg.Clock, Log: log, Metrics: cmp.Or[prometheus.Registerer](cfg.Metrics, prometheus.NewRegistry()),
	})
	listener := httptest.NewUnstartedServer(nil)
	address := "http://" + listener.Listener.Addr().String()
	server, err := tools.New(tools.Config{
		Catalogue: guard.Catalogue(cfg.Operations), AllowedOrigins: cfg.AllowedOrigins,
		MCPURL: address, AuthURL: "http://auth.test", DocsURL: "http://app.test/docs",
		Commit: "unknown", Version: "test", Clock: cfg.Clock, Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range cfg.Operations { // those without an entry in the product's table of tools, too
		if name := op.Info().Name; !slices.Contains(tools.Table(), name) {
			server.Mount(name)
		}
	}
	for _, f := range cfg.Fixtures {
		if err := server.AddTool(f.Tool, f.Handler); err != nil {
			t.Fatal(err)
		}
	}
	listener.Config.Handler = server.Handler()
	listener.Start()
	t.Cleanup(listener.Close)
	return address
}

// oneClient stores a client and returns an authenticator that accepts [Token] for it. The
// token expires after one hour.
func oneClient(t *testing.T, db *storage.DB, clock core.Clock) guardrails.Authenticator {
	t.Helper()
	org := core.Org{ID: core.NewID(), Name: "Org", Slug: "org", Tier: "team", RetentionDays: 90}
	client := access.Client{
		ID: core.NewID(), ClientID: access.MintClientID(core.Live), OrgID: org.ID, Name: "Agent",
		Environment: core.Live, SecretHash: access.MintClientSecret().Hash, Scopes: core.AllScopes(), CreatedAt: clock(),
	}
	if err := errors.Join(db.Orgs().InsertOrg(t.Context(), org), db.Clients().InsertClient(t.Context(), client)); err != nil {
		t.Fatal(err)
	}
	token := oneToken{ID: "1", ClientID: client.ClientID, OrgID: org.ID, Scopes: client.Scopes, ExpiresAt: clock().Add(time.Hour)}
	return bearer.NewAuthenticator(bearer.AuthenticatorConfig{
		Stores: db.Access(), Orgs: db.Orgs(), Members: members.Ceilings{Members: db.Members()}, Tokens: token, Clock: clock,
	})
}

// oneToken is the stored record of the access token [Token].
type oneToken bearer.Token

// VerifyToken returns the stored record o if token equals the constant [Token], for every
// resource. It fails for all other tokens.
func (o oneToken) VerifyToken(_ context.Context, token string, _ access.Resource) (bearer.Token, error) {
	if token != Token {
		return bearer.Token{}, errors.New("unknown token")
	}
	return bearer.Token(o), nil
}
