package rest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/account"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/bearer"
	"github.com/mailhelm/mailhelm/core/bulk"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/sending/simulator/simulatortest"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/core/visitorids"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/rest"
	"github.com/mailhelm/mailhelm/storage"
	bulkstore "github.com/mailhelm/mailhelm/storage/bulk"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	"github.com/prometheus/client_golang/prometheus"
)

const (
	baseURL = "https://api.mailhelm.test"
	authURL = "https://auth.mailhelm.test"
	docsURL = "https://app.mailhelm.test/docs"
)

// stack is the API on a real store and a simulated sending account, with one organization
// whose API keys have every scope.
type stack struct {
	t          testing.TB
	handler    http.Handler
	clock      *clock
	simulator  *simulator.Simulator
	org        core.Org
	live, test string // API keys
	db         *storage.DB
	log        *logBuffer
}

// clock is a clock that stands still until a test advances it.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// noTokens is a verifier that refuses every access token, because the tests of this package
// use API keys.
type noTokens struct{}

func (noTokens) VerifyToken(context.Context, string, access.Resource) (bearer.Token, error) {
	return bearer.Token{}, errors.New("no tokens here")
}

// newStack returns a stack that serves the product's routes. ops are additional operations,
// and more are the routes to them.
func newStack(t testing.TB, ops []core.Operation, more ...rest.Route) *stack {
	t.Helper()
	db := storagetest.SQLite(t)
	s := &stack{t: t, clock: &clock{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}, db: db, log: &logBuffer{}}
	sim := simulatortest.Open(t, simulator.Options{Clock: s.clock.Now})
	s.simulator = sim
	s.seed()
	log := slog.New(slog.NewJSONHandler(s.log, nil))
	guard := guardrails.New(guardrails.Config{
		Authenticator: bearer.NewAuthenticator(bearer.AuthenticatorConfig{
			Stores: db.Access(), Orgs: db.Orgs(), Members: members.Ceilings{Members: db.Members()}, Tokens: noTokens{}, Clock: s.clock.Now,
		}),
		Transactor: db, Replays: db.Replay(), Audit: db.Audit(),
		ConfirmationSecret: make([]byte, guardrails.ConfirmationSecretBytes),
		Clock:              s.clock.Now, Log: log, Metrics: prometheus.NewRegistry(),
	})
	list := topics.NewLive(sim, s.clock.Now, log)
	listed := lists.New(lists.Config{Store: db.Lists(), Members: db.ListMembers(), Clock: s.clock.Now})
	locks := sending.NewKeyedLocks()
	product := catalogue.Operations(catalogue.Domains{
		Account: account.New(account.Config{
			Account: sim, Connections: db.Connections(nil), Mirror: db.Channels(), Requests: db.ProductionRequests(), Orgs: db.Orgs().OrgIDs,
			Clock: s.clock.Now, Log: log,
		}),
		Contacts: contacts.New(contacts.Config{
			Store: db.Contacts(), VisitorIDs: visitorids.New(visitorids.Config{Store: db.VisitorIDs()}), Notes: db.AccountNotes(), Attributes: db.Attributes(), List: list, Lists: listed, Locks: locks, Account: sim, Clock: s.clock.Now,
		}),
		Bulk: bulk.New(bulk.Config{
			Store: bulkstore.NewJobStore(db.DB), Contacts: bulkstore.NewContactStore(db.DB), Transactor: db, Attributes: db.Attributes(), Topics: db.Topics(), Lists: listed, Orgs: db.Orgs().OrgIDs, Clock: s.clock.Now, Log: log,
		}),
		Lists:      listed,
		Attributes: attributes.New(attributes.Config{Store: db.Attributes(), Passes: db.AttributePasses(), Transactor: db, Topics: list, Clock: s.clock.Now, Log: log}),
		Topics: topics.New(topics.Config{
			Store: db.Topics(), Transactor: db, Account: sim, Live: list, Locks: locks, Contacts: db.ContactCount(), Clock: s.clock.Now,
		}),
		Activities: activities.New(activities.Config{Clock: s.clock.Now}),
		Segments:   segments.New(segments.Config{Clock: s.clock.Now}),
	})
	server, err := rest.NewServer(rest.Config{
		Catalogue: guard.Catalogue(append(product, ops...)),
		BaseURL:   baseURL, AuthURL: authURL, DocsURL: docsURL, Commit: "abc1234", Clock: s.clock.Now, Log: log,
	}, append(rest.Routes(), more...))
	if err != nil {
		t.Fatal(err)
	}
	s.handler = server.Handler()
	return s
}

func (s *stack) seed() {
	s.t.Helper()
	ctx := s.t.Context()
	s.org = core.Org{ID: core.NewID(), Name: "Example", Slug: "example", Tier: "team", RetentionDays: 90}
	if err := s.db.Orgs().InsertOrg(ctx, s.org); err != nil {
		s.t.Fatal(err)
	}
	s.live = s.key(s.org.ID, core.Live, core.AllScopes())
	s.test = s.key(s.org.ID, core.Test, core.AllScopes())
	err := s.simulator.Seed(ctx, s.org.ID, simulator.Setup{List: &sending.ContactList{
		Name: "all", Topics: []sending.Topic{{Name: "news", DisplayName: "News", Default: sending.OptOut}},
	}})
	if err != nil {
		s.t.Fatal(err)
	}
}

// key creates an API key of an organization and returns its secret.
func (s *stack) key(orgID string, env core.Environment, scopes core.Scopes) string {
	s.t.Helper()
	minted := access.MintAPIKey(env)
	err := s.db.Keys().InsertAPIKey(s.t.Context(), access.APIKey{
		ID: core.NewID(), OrgID: orgID, Name: "key", Environment: env, Prefix: minted.Prefix,
		SecretHash: minted.Hash, Scopes: scopes, CreatedAt: s.clock.Now(),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return minted.Secret
}

// limit sets the organization's rate limit in calls per minute. The server caches callers
// for a few seconds, so a test must set the limit before its first call.
func (s *stack) limit(perMinute int) {
	s.t.Helper()
	if err := s.db.Orgs().SetRateLimit(s.t.Context(), s.org.ID, &perMinute); err != nil {
		s.t.Fatal(err)
	}
}

// request returns a request with the live API key. headers are names and values; an empty
// value removes the header.
func (s *stack) request(method, target, body string, headers ...string) *http.Request {
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r := httptest.NewRequest(method, target, reader)
	r.Header.Set("Authorization", "Bearer "+s.live)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
			continue
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

func (s *stack) serve(t testing.TB, r *http.Request) *answer {
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return &answer{ResponseRecorder: w, t: t}
}

func (s *stack) do(t testing.TB, method, target, body string, headers ...string) *answer {
	return s.serve(t, s.request(method, target, body, headers...))
}

type answer struct {
	*httptest.ResponseRecorder
	t testing.TB
}

// want fails the test unless the answer has the status.
func (a *answer) want(status int) *answer {
	a.t.Helper()
	if a.Code != status {
		a.t.Fatalf("status = %d, want %d; body: %.500s", a.Code, status, a.Body)
	}
	return a
}

// wantRefusal fails the test unless the answer is a problem document with this status and
// error code. It returns the document.
func (a *answer) wantRefusal(status int, code core.Code) core.Problem {
	a.t.Helper()
	a.want(status)
	var p core.Problem
	a.decode(&p)
	if got := a.Header().Get("Content-Type"); got != "application/problem+json" {
		a.t.Errorf("Content-Type = %q", got)
	}
	if p.Code != code || p.Status != status || p.Type != docsURL+"/api/errors/"+string(code) {
		a.t.Errorf("problem = %+v, want code %s", p, code)
	}
	if p.RequestID == "" || p.RequestID != a.Header().Get("X-Request-Id") {
		a.t.Errorf("request_id = %q, header %q", p.RequestID, a.Header().Get("X-Request-Id"))
	}
	return p
}

func (a *answer) decode(into any) {
	a.t.Helper()
	if err := json.Unmarshal(a.Body.Bytes(), into); err != nil {
		a.t.Fatalf("body %.200q: %v", a.Body, err)
	}
}
