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
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	"github.com/mailhelm/mailhelm/tools"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/prometheus/client_golang/prometheus"
)

// Config has the settings of a test. Only Operations or Fixtures are required.
type Config struct {
	// Operations are all mounted as tools, those whose names are not in the table of tools too.
	Operations []core.Operation
	// Fixtures are tools without an operation, for features of the protocol that no
	// operation uses: pictures, rounds of questions, progress.
	Fixtures []Fixture
	// AllowedOrigins are the browser origins that may call the endpoint.
	AllowedOrigins []string
	// DB is the database; nil means a new SQLite database for the test.
	DB *storage.DB
	// Callers authenticates callers. If it is nil, there is one client with every scope,
	// whose token is [Token].
	Callers guardrails.Authenticator
	// Repositories receives pull requests; nil means that there is no host for them.
	Repositories guardrails.RepositoryHost
	// Clock is the clock; nil means a fixed one.
	Clock core.Clock
	// Metrics registers the metrics; nil discards them.
	Metrics prometheus.Registerer
}

// Fixture is a tool that is no operation, see [tools.Server.AddTool].
type Fixture struct {
	// Tool is the declaration that tools/list returns.
	Tool *mcp.Tool
	// Handler runs without the rails. It must return a new result each time, because the
	// endpoint modifies it.
	Handler mcp.ToolHandler
}

// Token is the token of the default client.
const Token = "token"

// Serve starts the endpoint and returns the address of its host. It stops with the test.
// Endpoints over one database act as processes of one installation: they share the key
// that signs confirmations.
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
	for _, op := range cfg.Operations {
		if name := op.Info().Name; !slices.Contains(tools.Table(), name) {
			mustMount(t, server, name)
		}
	}
	for _, f := range cfg.Fixtures {
		server.AddTool(f.Tool, f.Handler)
	}
	listener.Config.Handler = server.Handler()
	listener.Start()
	t.Cleanup(listener.Close)
	return address
}

// mustMount adds an operation whose name the table of tools does not have. It must run
// before the first request.
func mustMount(t *testing.T, server *tools.Server, name string) {
	t.Helper()
	if err := server.Mount(name); err != nil {
		t.Fatal(err)
	}
}

// oneClient stores a client and returns an authenticator that accepts its token. The
// token expires after an hour of the clock.
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
	return access.NewAuthenticator(access.AuthenticatorConfig{
		Stores: db.Access(), Orgs: db.Orgs(), Members: members.Ceilings{Members: db.Members()}, Tokens: token, Clock: clock,
	})
}

// oneToken is an [access.Token] that verifies itself: the meaning of [Token].
type oneToken access.Token

// VerifyToken returns o for [Token], whatever the resource. It fails for any other text.
func (o oneToken) VerifyToken(_ context.Context, token string, _ access.Resource) (access.Token, error) {
	if token != Token {
		return access.Token{}, errors.New("unknown token")
	}
	return access.Token(o), nil
}
