package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// databaseCalls has the calls that the tests make while the database fails: reads and
// writes, by REST routes and MCP tools.
var databaseCalls = []struct {
	call
	writes bool
}{
	{call{operation: "contacts_lookup", method: "GET", path: "/v1/contacts/read-ROUND%40example.com"}, false},
	{call{operation: "contacts_lookup", body: `{"email":"read-ROUND@example.com"}`}, false},
	{call{operation: "attributes_list", method: "GET", path: "/v1/attributes"}, false},
	{call{operation: "segments_preview_predicate", method: "POST", path: "/v1/segments/preview", body: `{"source":"attr.orders > 1"}`}, false},
	{call{operation: "contacts_update", method: "PATCH", path: "/v1/contacts/patch-ROUND%40example.com", body: `{"attributes":{"city":"` + strings.Repeat("x", 3000) + `"}}`}, true},
	{call{operation: "lists_create", method: "POST", path: "/v1/lists", body: `{"name":"Created ROUND"}`}, true},
	{call{operation: "contacts_upsert", body: `{"email":"upsert-ROUND@example.com","attributes":{"city":"` + strings.Repeat("y", 3000) + `"}}`}, true},
}

// internals has words that occur in internal error messages. No answer may contain them.
var internals = []string{"pq:", "dial", "refused", "socket", "SQLITE", "sqlite", "postgres", "/tmp", "disk", "storage:", "EOF", "SQLSTATE"}

// checkUnavailable checks the answer to a call that failed because of the database. A route
// must answer 503, a tool a JSON-RPC error, both with the code temporarily_unavailable and
// Retry-After. The answer must not name the cause.
func checkUnavailable(t *testing.T, name string, tool bool, got answer) {
	t.Helper()
	problem := got.content
	if tool {
		var rpc struct {
			Error struct {
				Data map[string]any `json:"data"`
			} `json:"error"`
		}
		if err := json.Unmarshal([]byte(got.body), &rpc); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		problem = rpc.Error.Data
	}
	if problem["code"] != "temporarily_unavailable" || problem["status"] != 503.0 || problem["retry_after"] != 5.0 || got.header.Get("Retry-After") != "5" {
		t.Errorf("%s: %v %d %s", name, got.err, got.status, got.body)
	}
	if !tool && got.status != http.StatusServiceUnavailable {
		t.Errorf("%s: %d %s", name, got.status, got.body)
	}
	for _, word := range internals {
		if strings.Contains(got.body, word) {
			t.Errorf("%s tells %q: %s", name, word, got.body)
		}
	}
}

func checkDone(t *testing.T, name string, got answer) {
	t.Helper()
	if got.err != nil || got.status >= http.StatusBadRequest || got.isError || strings.Contains(got.body, `"error":{`) {
		t.Errorf("%s: %v %d %s", name, got.err, got.status, got.body)
	}
}

// askToken requests an access token with the client credentials of an organization.
func (s *faultScene) askToken(t *testing.T, c product.Credentials) answer {
	t.Helper()
	form := url.Values{"grant_type": {"client_credentials"}, "resource": {s.p.BaseURL}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.p.AuthURL+"/oauth/token", strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth(c.ClientID, c.ClientSecret)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return do(s.p.HTTP, r)
}

func (s *faultScene) askReady(t *testing.T) answer {
	t.Helper()
	return get(t, s.p, s.p.AdminURL+"/readyz", "")
}

func (s *faultScene) checkReady(t *testing.T, cause string) {
	t.Helper()
	got := s.askReady(t)
	if want := map[bool]int{true: http.StatusOK, false: http.StatusServiceUnavailable}[cause == ""]; got.err != nil || got.status != want || !strings.Contains(got.body, cause) {
		t.Errorf("readiness: %v %d %s, want %d with %q", got.err, got.status, got.body, want, cause)
	}
}

// TestTheDatabaseIsStopped stops and restarts PostgreSQL while callers send requests. Calls
// and token requests must fail with temporarily_unavailable, and must succeed once
// PostgreSQL is back.
func TestTheDatabaseIsStopped(t *testing.T) {
	t.Parallel()
	server := enginetest.OwnServer(t)
	log := new(journal)
	s := newFaultScene(t, product.Options{Postgres: true, PostgresURL: server.URL(), Log: log})
	s.begin(t, "stopped")
	for _, c := range databaseCalls[:4] {
		checkDone(t, c.name(), s.do(t, c.call))
	}
	server.Stop(t)
	for _, known := range []bool{true, false} {
		for _, c := range databaseCalls {
			checkUnavailable(t, fmt.Sprintf("%s, caller known: %v", c.name(), known), c.method == "", s.do(t, c.call))
		}
		got := s.askToken(t, s.p.Live)
		if got.status != http.StatusServiceUnavailable || !strings.Contains(got.body, `"temporarily_unavailable"`) || got.header.Get("Retry-After") != "5" {
			t.Errorf("a token: %v %d %s", got.err, got.status, got.body)
		}
		s.checkReady(t, "the database cannot be reached")
		s.p.Clock.Advance(10 * time.Second) // let the cached credentials in the server expire
	}
	server.Start(t)
	for _, c := range databaseCalls {
		checkDone(t, c.name()+", with the database back", s.do(t, c.call))
	}
	checkDone(t, "a token, with the database back", s.askToken(t, s.p.Live))
	s.checkReady(t, "")
	if text := log.text(); !strings.Contains(text, `"outcome":"temporarily_unavailable"`) || !strings.Contains(text, "connect:") {
		t.Error("the log does not name the cause")
	}
}
