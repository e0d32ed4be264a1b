package mcp_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	"github.com/mailhelm/mailhelm/tools"
	"github.com/prometheus/client_golang/prometheus"
)

const oneToken = "token"

type oneClient access.Token

// VerifyToken knows the one token.
func (c oneClient) VerifyToken(_ context.Context, token string, _ access.Resource) (access.Token, error) {
	if token != oneToken {
		return access.Token{}, errors.New("unknown token")
	}
	return access.Token(c), nil
}

// serveTools is the endpoint with tools of the test's own instead of the
// product's: on the real rails, with a real database and one client. It returns
// the address of the host.
func serveTools(t *testing.T, operations []core.Operation, fixtures []tools.Fixture, origins ...string) string {
	t.Helper()
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	clock := func() time.Time { return now }
	db := storagetest.SQLite(t)
	org := core.Org{ID: core.NewID(), Name: "Org", Slug: "org", Tier: "team", RetentionDays: 90}
	client := access.Client{
		ID: core.NewID(), ClientID: access.MintClientID(core.Live), OrgID: org.ID, Name: "Agent",
		Environment: core.Live, SecretHash: access.MintClientSecret().Hash, Scopes: core.AllScopes(), CreatedAt: now,
	}
	if err := errors.Join(db.Access().InsertOrg(t.Context(), org), db.Access().InsertClient(t.Context(), client)); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	token := oneClient{ID: "1", ClientID: client.ClientID, OrgID: org.ID, Scopes: client.Scopes, ExpiresAt: now.Add(time.Hour)}
	guard := guardrails.New(guardrails.Config{
		Authenticator: access.NewAuthenticator(access.AuthenticatorConfig{
			Store: db.Access(), Grants: db.Grants(), Members: db.Members(), OpenClients: db.OpenClients(), Tokens: token, Clock: clock,
		}),
		Transactor: db, Replays: db.Replay(), Audit: db.Access(),
		ConfirmationSecret: bytes.Repeat([]byte{1}, guardrails.ConfirmationSecretBytes),
		Clock:              clock, Log: log, Metrics: prometheus.NewRegistry(),
	})
	listener := httptest.NewUnstartedServer(nil)
	address := "http://" + listener.Listener.Addr().String()
	server, err := tools.New(tools.Config{
		Catalogue: guard.Catalogue(operations), Fixtures: fixtures, AllowedOrigins: origins, MCPURL: address, AuthURL: "http://auth.test",
		DocsURL: "http://app.test/docs", Commit: "unknown", Version: "test", Clock: clock, Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	listener.Config.Handler = server.Handler()
	listener.Start()
	t.Cleanup(listener.Close)
	return address
}
