package tools_test

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
	"github.com/mailhelm/mailhelm/core/bearer"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	"github.com/mailhelm/mailhelm/tools"
	"github.com/prometheus/client_golang/prometheus"
)

const (
	modern = "2026-07-28"
	legacy = "2025-11-25"
)

var allRevisions = []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// world is an agent endpoint on loopback, with the real package guardrails and a real
// database. Its access tokens are short words instead of signed tokens.
type world struct {
	t      testing.TB
	db     *storage.DB
	tokens tokens
	ops    *probes
	url    string
	log    *lockedBuffer
	server *tools.Server
	http   *http.Client

	mu  sync.Mutex
	now time.Time
}

var start = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

type tokens map[string]bearer.Token

var errUnknownToken = errors.New("unknown token")

// VerifyToken returns the access token that the test has defined. It panics for the token
// "panic" and fails for an unknown one.
func (k tokens) VerifyToken(_ context.Context, token string, resource access.Resource) (bearer.Token, error) {
	if token == "panic" {
		panic("secret of the inside")
	}
	found, ok := k[token]
	if !ok || resource != access.Agent {
		return bearer.Token{}, errUnknownToken
	}
	return found, nil
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return newWorldOf(t, nil)
}

// newWorldOf returns a world with the given operations. If operations is nil, the world has
// all operations of the test type probes. additions add further tools.
func newWorldOf(t testing.TB, operations []core.Operation, additions ...addition) *world {
	t.Helper()
	w := &world{t: t, db: storagetest.SQLite(t), tokens: tokens{}, ops: newProbes(), log: new(lockedBuffer), now: start}
	if operations == nil {
		operations = w.ops.operations()
	}
	org := w.org("mine", nil)
	w.client("live", org, core.Live, core.AllScopes())
	w.client("test", org, core.Test, core.AllScopes())
	w.client("reader", org, core.Live, core.NewScopes("api.contacts.view"))
	limit := 30
	w.client("limited", w.org("limited", &limit), core.Live, core.AllScopes())

	log := slog.New(slog.NewJSONHandler(w.log, nil))
	listener := httptest.NewUnstartedServer(nil)
	w.url = "http://" + listener.Listener.Addr().String()
	guard := guardrails.New(guardrails.Config{
		Authenticator: bearer.NewAuthenticator(bearer.AuthenticatorConfig{
			Stores: w.db.Access(), Orgs: w.db.Orgs(), Members: members.Ceilings{Members: w.db.Members()}, Tokens: w.tokens, Clock: w.clock,
		}),
		Transactor: w.db, Replays: w.db.Replay(), Audit: w.db.Audit(),
		ConfirmationSecret: bytes.Repeat([]byte{7}, guardrails.ConfirmationSecretBytes),
		Clock:              w.clock, Log: log, Metrics: prometheus.NewRegistry(),
	})
	server, err := tools.New(tools.Config{
		Catalogue: guard.Catalogue(operations),
		MCPURL:    w.url, AuthURL: "http://auth.test", DocsURL: "http://app.test/docs",
		AllowedOrigins: []string{"https://inspector.test"}, Commit: "abc123", Version: "1.2.3",
		Clock: w.clock, Log: log,
	})
	w.must(err)
	for _, add := range additions {
		add(server)
	}
	w.server = server
	listener.Config.Handler = server.Handler()
	listener.Start()
	t.Cleanup(listener.Close)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	w.http = &http.Client{Transport: transport, Timeout: time.Minute}
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func (w *world) org(slug string, limit *int) core.Org {
	w.t.Helper()
	org := core.Org{ID: core.NewID(), Name: slug, Slug: slug, Tier: "team", RetentionDays: 90, RateLimit: limit}
	w.must(w.db.Orgs().InsertOrg(w.t.Context(), org))
	return org
}

func (w *world) client(token string, org core.Org, env core.Environment, scopes core.Scopes) {
	w.t.Helper()
	c := access.Client{
		ID: core.NewID(), ClientID: access.MintClientID(env), OrgID: org.ID, Name: token,
		Environment: env, SecretHash: access.MintClientSecret().Hash, Scopes: scopes, CreatedAt: start,
	}
	w.must(w.db.Clients().InsertClient(w.t.Context(), c))
	w.tokens[token] = bearer.Token{ID: token, ClientID: c.ClientID, OrgID: org.ID, Scopes: scopes, ExpiresAt: start.AddDate(1, 0, 0)}
}

// ask is one HTTP request to the endpoint. A field that is not set has a default value,
// such as POST for the field method.
type ask struct {
	token    string // an access token; "live" unless set; "-" sends none
	method   string // the HTTP method; POST unless set
	path     string // the path; /mcp unless set
	revision string // the protocol revision; 2025-11-25 unless set; "-" sends no revision header
	header   map[string]string
	body     string
	reader   io.Reader // if set, the request body is read from it and not from the field body
}

type reply struct {
	status int
	header http.Header
	body   string
}

func (w *world) send(a ask) reply {
	w.t.Helper()
	if a.reader == nil {
		a.reader = strings.NewReader(a.body)
	}
	r, err := http.NewRequestWithContext(w.t.Context(), valueOr(a.method, "POST"), w.url+valueOr(a.path, "/mcp"), a.reader)
	w.must(err)
	if a.token != "-" {
		r.Header.Set("Authorization", "Bearer "+valueOr(a.token, "live"))
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if a.revision != "-" {
		r.Header.Set("MCP-Protocol-Version", valueOr(a.revision, legacy))
	}
	for name, value := range a.header {
		if value == "" {
			r.Header.Del(name)
			continue
		}
		r.Header[http.CanonicalHeaderKey(name)] = strings.Split(value, "\n")
	}
	response, err := w.http.Do(r)
	w.must(err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	w.must(err)
	return reply{response.StatusCode, response.Header, string(body)}
}

func valueOr(value, fallback string) string {
	if value == "" {
		return fallback
	}
	return value
}

// rpc returns a JSON-RPC request at a protocol revision, with the headers and the _meta
// that the revision requires. The parameter members has the other members of params.
func rpc(revision, method string, members map[string]any) ask {
	if members == nil {
		members = map[string]any{}
	}
	header := map[string]string{}
	if revision == modern {
		meta, ok := members["_meta"].(map[string]any)
		if !ok {
			meta = map[string]any{}
		}
		meta["io.modelcontextprotocol/protocolVersion"] = modern
		if meta["io.modelcontextprotocol/clientCapabilities"] == nil {
			meta["io.modelcontextprotocol/clientCapabilities"] = map[string]any{}
		}
		members["_meta"] = meta
		header["Mcp-Method"] = method
		if name, ok := members["name"].(string); ok {
			header["Mcp-Name"] = name
		}
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": members})
	if err != nil {
		panic(err)
	}
	return ask{revision: revision, header: header, body: string(body)}
}

// call returns a call of the tool with this name, at a protocol revision.
func call(revision, name string, arguments map[string]any) ask {
	return rpc(revision, "tools/call", map[string]any{"name": name, "arguments": arguments})
}

func (a ask) withToken(token string) ask {
	a.token = token
	return a
}

func (a ask) with(header, value string) ask {
	header2 := map[string]string{header: value}
	for k, v := range a.header {
		if _, replaced := header2[k]; !replaced {
			header2[k] = v
		}
	}
	a.header = header2
	return a
}

// answer is a JSON-RPC response. It has those members of results that the tests read.
type answer struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   *struct {
		Code    int64          `json:"code"`
		Message string         `json:"message"`
		Data    map[string]any `json:"data"`
	} `json:"error"`
	Result *struct {
		Meta       map[string]any `json:"_meta"`
		ResultType string         `json:"resultType"`
		Content    []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		Structured    map[string]any            `json:"structuredContent"`
		IsError       bool                      `json:"isError"`
		InputRequests map[string]map[string]any `json:"inputRequests"`
		RequestState  string                    `json:"requestState"`
		Tools         []map[string]any          `json:"tools"`
		CacheScope    string                    `json:"cacheScope"`
		TTL           int                       `json:"ttlMs"`
	} `json:"result"`
}

func (r reply) answer(t testing.TB) answer {
	t.Helper()
	var a answer
	if err := json.Unmarshal([]byte(r.body), &a); err != nil || a.Version != "2.0" {
		t.Fatalf("status %d, not a JSON-RPC response: %s", r.status, r.body)
	}
	return a
}

// result returns the JSON-RPC answer. It fails the test unless the status is 200 and the
// answer has a result.
func (r reply) result(t testing.TB) answer {
	t.Helper()
	a := r.answer(t)
	if a.Result == nil || r.status != http.StatusOK {
		t.Fatalf("status %d, no result: %s", r.status, r.body)
	}
	return a
}

// wantRPCError fails the test unless the reply is a JSON-RPC error with this HTTP status
// and this error code. It returns the answer.
func (r reply) wantRPCError(t testing.TB, status int, code int64) answer {
	t.Helper()
	a := r.answer(t)
	if a.Error == nil || a.Error.Code != code || r.status != status {
		t.Fatalf("got %d %s, want %d with code %d", r.status, r.body, status, code)
	}
	if got := r.header.Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type = %q", got)
	}
	return a
}

type problem struct {
	core.Problem
	Message string `json:"message"`
}

// wantProblem fails the test unless the reply is a problem document with this status and
// this code. It returns the document.
func (r reply) wantProblem(t testing.TB, status int, code core.Code) problem {
	t.Helper()
	var p problem
	if err := json.Unmarshal([]byte(r.body), &p); err != nil || p.Code != code || p.Status != status || r.status != status {
		t.Fatalf("got %d %s, want the problem %d %s", r.status, r.body, status, code)
	}
	if got := r.header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("Content-Type = %q", got)
	}
	if p.Type != "http://app.test/docs/api/errors/"+string(code) || p.RequestID == "" || p.RequestID != r.header.Get("X-Request-Id") {
		t.Errorf("type %q, request id %q", p.Type, p.RequestID)
	}
	return p
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// lines returns the members of the JSON log lines that have this message.
func (b *lockedBuffer) lines(t testing.TB, message string) []map[string]any {
	t.Helper()
	var found []map[string]any
	for line := range strings.Lines(b.String()) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("log line %q: %v", line, err)
		}
		if fields["msg"] == message {
			found = append(found, fields)
		}
	}
	return found
}
