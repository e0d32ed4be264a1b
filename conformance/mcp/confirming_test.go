package mcp_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	"github.com/mailhelm/mailhelm/tools"
	"github.com/prometheus/client_golang/prometheus"
)

// confirming is the endpoint with one tool that asks before it acts, on the real
// rails and a real database.
type confirming struct {
	url  string
	sent atomic.Int64
}

const oneToken = "token"

type oneClient access.Token

// VerifyToken knows the one token.
func (c oneClient) VerifyToken(_ context.Context, token string, _ access.Resource) (access.Token, error) {
	if token != oneToken {
		return access.Token{}, errors.New("unknown token")
	}
	return access.Token(c), nil
}

func startConfirming(t *testing.T) *confirming {
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
	c := &confirming{}
	log := slog.New(slog.DiscardHandler)
	token := oneClient{ID: "1", ClientID: client.ClientID, OrgID: org.ID, Scopes: client.Scopes, ExpiresAt: now.Add(time.Hour)}
	guard := guardrails.New(guardrails.Config{
		Authenticator: access.NewAuthenticator(access.AuthenticatorConfig{
			Store: db.Access(), Grants: db.Grants(), Members: db.Members(), OpenClients: db.OpenClients(), Tokens: token, Clock: clock,
		}),
		Transactor: db, Replays: db.Replay(), Audit: db.Access(),
		ConfirmationKeys: []guardrails.ConfirmationKey{{ID: "1", Secret: bytes.Repeat([]byte{1}, 32)}},
		Clock:            clock, Log: log, Metrics: prometheus.NewRegistry(),
	})
	listener := httptest.NewUnstartedServer(nil)
	c.url = "http://" + listener.Listener.Addr().String()
	server, err := tools.New(tools.Config{
		Catalogue: guard.Catalogue([]core.Operation{c.send()}), MCPURL: c.url, AuthURL: "http://auth.test",
		DocsURL: "http://app.test/docs", Commit: "unknown", Version: "test", Clock: clock, Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	listener.Config.Handler = server.Handler()
	listener.Start()
	t.Cleanup(listener.Close)
	return c
}

type broadcastIn struct {
	ID string `json:"broadcast_id" jsonschema_description:"The broadcast."`
}

type broadcastOut struct {
	Status string `json:"status"`
}

func (c *confirming) send() core.Operation {
	return core.Declare(core.Op[broadcastIn, broadcastOut]{
		Name: "broadcasts_send", Title: "Send a broadcast", Purpose: "Sends a broadcast.", Effect: core.Destroys,
		Scopes: []core.Scope{core.BroadcastsManage},
		Confirm: func(context.Context, *core.Call, broadcastIn) (*core.Confirmation, error) {
			return &core.Confirmation{Message: "This sends the broadcast to 1204 people.", Preview: map[string]int{"recipients": 1204}}, nil
		},
		Do: func(context.Context, *core.Call, broadcastIn) (broadcastOut, error) {
			c.sent.Add(1)
			return broadcastOut{Status: "sending"}, nil
		},
	})
}

// A client that shows forms asks its person and sends the answer by itself; the
// caller of the tool sees one call.
func TestAPersonConfirmsByForm(t *testing.T) {
	t.Parallel()
	for library, connect := range libraries {
		for _, tc := range []struct {
			name   string
			person person
			status string
			sent   int64
		}{
			{"agrees", func() (string, map[string]any) { return "accept", map[string]any{"confirm": true} }, "sending", 1},
			{"says no", func() (string, map[string]any) { return "accept", map[string]any{"confirm": false} }, "declined", 0},
			{"declines", func() (string, map[string]any) { return "decline", nil }, "declined", 0},
			{"cancels", func() (string, map[string]any) { return "cancel", nil }, "declined", 0},
		} {
			t.Run(library+"/"+tc.name, func(t *testing.T) {
				t.Parallel()
				c := startConfirming(t)
				a := connect(t, c.url+"/mcp", oneToken, modern, tc.person)
				got, err := a.call(t, "broadcasts_send", map[string]any{"broadcast_id": "b1"}, nil)
				if err != nil || got.Failed || got.Value["status"] != tc.status || c.sent.Load() != tc.sent {
					t.Errorf("%+v, %v, sent %d", got, err, c.sent.Load())
				}
			})
		}
	}
}

// Every other client gets a token and calls again with it.
func TestOtherClientsConfirmByToken(t *testing.T) {
	t.Parallel()
	for library, connect := range libraries {
		for _, revision := range revisions {
			t.Run(library+"/"+revision, func(t *testing.T) {
				t.Parallel()
				c := startConfirming(t)
				a := connect(t, c.url+"/mcp", oneToken, revision, nil)
				first, err := a.call(t, "broadcasts_send", map[string]any{"broadcast_id": "b1"}, nil)
				if err != nil || first.Failed || first.Value["confirmation_required"] != true || c.sent.Load() != 0 {
					t.Fatalf("%+v, %v, sent %d", first, err, c.sent.Load())
				}
				token := first.Value["confirmation_token"]
				second, err := a.call(t, "broadcasts_send", map[string]any{"broadcast_id": "b1", "confirmation_token": token}, nil)
				if err != nil || second.Failed || second.Value["status"] != "sending" || c.sent.Load() != 1 {
					t.Errorf("%+v, %v, sent %d", second, err, c.sent.Load())
				}
			})
		}
	}
}
