package observability_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	"github.com/mailhelm/mailhelm/tools"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// scene is the agent endpoint with a tool that asks before it acts, one that
// leaves things out and one whose result is too long, on the real rails and a real database.
type scene struct {
	url, admin string
	http       *http.Client
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

func startScene(t *testing.T) *scene {
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
	registry, log := prometheus.NewRegistry(), slog.New(slog.DiscardHandler)
	guard := guardrails.New(guardrails.Config{
		Authenticator: access.NewAuthenticator(access.AuthenticatorConfig{
			Store: db.Access(), Grants: db.Grants(), Members: db.Members(), OpenClients: db.OpenClients(), Clock: clock,
			Tokens: oneClient{ID: "1", ClientID: client.ClientID, OrgID: org.ID, Scopes: client.Scopes, ExpiresAt: now.Add(time.Hour)},
		}),
		Transactor: db, Replays: db.Replay(), Audit: db.Access(),
		ConfirmationSecret: bytes.Repeat([]byte{1}, guardrails.ConfirmationSecretBytes),
		Clock:              clock, Log: log, Metrics: registry,
	})
	admin := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	t.Cleanup(admin.Close)
	listener := httptest.NewUnstartedServer(nil)
	s := &scene{url: "http://" + listener.Listener.Addr().String(), admin: admin.URL, http: admin.Client()}
	server, err := tools.New(tools.Config{
		Catalogue: guard.Catalogue([]core.Operation{send(), lists(), long()}), MCPURL: s.url, AuthURL: "http://auth.test",
		DocsURL: "http://app.test/docs", Commit: "unknown", Version: "test", Clock: clock, Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	listener.Config.Handler = server.Handler()
	listener.Start()
	t.Cleanup(listener.Close)
	return s
}

type sendIn struct {
	ID string `json:"broadcast_id" jsonschema_description:"The broadcast."`
}

type sendOut struct {
	Status string `json:"status"`
}

func send() core.Operation {
	return core.Declare(core.Op[sendIn, sendOut]{
		Name: "broadcasts_send", Title: "Send a broadcast", Purpose: "Sends a broadcast.", Effect: core.Destroys,
		Scopes: []core.Scope{core.BroadcastsManage},
		Confirm: func(context.Context, *core.Call, sendIn) (*core.Confirmation, error) {
			return &core.Confirmation{Message: "This sends the broadcast to 1204 people.", Preview: map[string]int{"recipients": 1204}}, nil
		},
		Do: func(context.Context, *core.Call, sendIn) (sendOut, error) { return sendOut{Status: "sending"}, nil },
	})
}

func lists() core.Operation {
	return core.Declare(core.Op[struct{}, core.Page[sendOut]]{
		Name: "lists_list", Title: "List the lists", Purpose: "Lists the lists.", Effect: core.Reads,
		Scopes: []core.Scope{core.ListsView},
		Do: func(context.Context, *core.Call, struct{}) (core.Page[sendOut], error) {
			return core.Page[sendOut]{Items: []sendOut{{Status: "first"}}, Total: 2}, nil
		},
	})
}

func long() core.Operation {
	return core.Declare(core.Op[struct{}, sendOut]{
		Name: "contacts_lookup", Title: "Look a contact up", Purpose: "Looks a contact up.", Effect: core.Reads,
		Scopes: []core.Scope{core.ContactsView},
		Do: func(context.Context, *core.Call, struct{}) (sendOut, error) {
			return sendOut{Status: strings.Repeat("long ", 20_000)}, nil
		},
	})
}
