package tools_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/bearer"
)

func TestPathsAndMethods(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, tc := range []struct{ method, path, allow string }{
		{"GET", "/mcp", "POST"},
		{"DELETE", "/mcp", "POST"},
		{"OPTIONS", "/mcp", "POST"},
		{"POST", "/mcp/_health", "GET, HEAD"},
		{"POST", "/.well-known/oauth-protected-resource", "GET, HEAD"},
	} {
		r := w.send(ask{method: tc.method, path: tc.path})
		r.wantProblem(t, http.StatusMethodNotAllowed, core.CodeMethodNotAllowed)
		if got := r.header.Get("Allow"); got != tc.allow {
			t.Errorf("%s %s: Allow = %q, want %q", tc.method, tc.path, got, tc.allow)
		}
	}
	for _, path := range []string{"/", "/mcp/", "/v1/contacts", "/.well-known/oauth-protected-resource/other"} {
		w.send(ask{method: "GET", path: path}).wantProblem(t, http.StatusNotFound, core.CodeNotFound)
	}
}

func TestHealthNeedsNoToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.send(ask{method: "GET", path: "/mcp/_health", token: "-"})
	if want := `{"status":"ok","commit":"abc123","time":"2026-03-04T05:06:07Z"}`; r.status != http.StatusOK || r.body != want {
		t.Errorf("%d %s", r.status, r.body)
	}
}

func TestProtectedResourceDocument(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, path := range []string{"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"} {
		r := w.send(ask{method: "GET", path: path, token: "-"})
		var doc bearer.ProtectedResource
		if err := json.Unmarshal([]byte(r.body), &doc); err != nil || r.status != http.StatusOK {
			t.Fatalf("%d %s", r.status, r.body)
		}
		if doc.Resource != w.url || !cmp.Equal(doc.AuthorizationServers, []string{"http://auth.test"}) || !slices.Equal(doc.ScopesSupported, scopesOfProbes) {
			t.Errorf("%s: %+v", path, doc)
		}
	}
}

// scopesOfProbes are the scopes that the tools of a world and their arguments need.
var scopesOfProbes = []string{
	"api.attributes.view", "api.broadcasts.manage", "api.contacts.manage", "api.contacts.view", "api.lists.view", "api.messages.unmask_recipients", "api.topics.view",
}

func TestTokenRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	document := `resource_metadata="` + w.url + `/.well-known/oauth-protected-resource"`
	for name, tc := range map[string]struct {
		token  string
		status int
		code   core.Code
		says   string
	}{
		"none":    {"-", http.StatusUnauthorized, core.CodeInvalidKey, ""},
		"unknown": {"stranger", http.StatusUnauthorized, core.CodeInvalidKey, `error="invalid_token"`},
		"API key": {access.MintAPIKey(core.Live).Secret, http.StatusBadRequest, core.CodeWrongHost, "-"},
	} {
		r := w.send(rpc(legacy, "tools/list", nil).withToken(tc.token))
		r.wantProblem(t, tc.status, tc.code)
		challenge := r.header.Get("WWW-Authenticate")
		if tc.says == "-" {
			if challenge != "" {
				t.Errorf("%s: challenge %q", name, challenge)
			}
			continue
		}
		// The scopes are those of the tools and of their arguments, and no others.
		scopes := `scope="` + strings.Join(scopesOfProbes, " ") + `"`
		if !strings.Contains(challenge, scopes) {
			t.Errorf("%s: challenge %q, want %s", name, challenge, scopes)
		}
		if !strings.Contains(challenge, document) || !strings.Contains(challenge, tc.says) || tc.says == "" && strings.Contains(challenge, "error=") {
			t.Errorf("%s: challenge %q", name, challenge)
		}
	}
}

func TestExpiredTokenIsNeverAToolError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pass(366 * 24 * time.Hour)
	known := w.tokens["live"]
	delete(w.tokens, "live") // from now on the verifier refuses the token, as it refuses an expired one
	w.send(call(legacy, "contacts_lookup", map[string]any{"email": "a@b.cc"})).wantProblem(t, http.StatusUnauthorized, core.CodeInvalidKey)
	w.tokens["live"] = known
}

func TestMissingScopeLetsClientsStepUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, revision := range allRevisions {
		r := w.send(call(revision, "audience_get_schema", nil).withToken("reader"))
		p := r.wantProblem(t, http.StatusForbidden, core.CodeInvalidScope)
		if p.Scope != core.AttributesView {
			t.Errorf("scope %q", p.Scope)
		}
		challenge := r.header.Get("WWW-Authenticate")
		for _, part := range []string{`error="insufficient_scope"`, `scope="api.attributes.view api.topics.view"`, "resource_metadata="} {
			if !strings.Contains(challenge, part) {
				t.Errorf("challenge %q lacks %s", challenge, part)
			}
		}
	}
}

func TestTestCredentialsMayNotDestroy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.send(call(legacy, "contacts_archive", map[string]any{"email": "ann@example.com"}).withToken("test")).result(t)
	if !a.Result.IsError || a.Result.Structured["code"] != "test_environment_forbidden" || w.ops.archives.Load() != 0 {
		t.Errorf("%+v", a.Result)
	}
}

func TestOrigin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for origin, status := range map[string]int{
		"":                                   http.StatusOK,
		w.url:                                http.StatusOK,
		"https://inspector.test":             http.StatusOK,
		"https://evil.test":                  http.StatusForbidden,
		"null":                               http.StatusForbidden,
		"https://inspector.test.evil.test":   http.StatusForbidden,
		"https://inspector.test\nhttps://x.": http.StatusForbidden,
	} {
		r := w.send(rpc(legacy, "tools/list", nil).with("Origin", origin))
		if r.status != status {
			t.Errorf("Origin %q: %d", origin, r.status)
		}
		if status == http.StatusForbidden {
			r.wantProblem(t, status, core.CodeValidationFailed)
		}
	}
}

func TestRateHeadersAndLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.send(rpc(legacy, "ping", nil))
	if got := r.header.Get("RateLimit-Limit"); got != "" {
		t.Errorf("an unlimited organization got the limit %s", got)
	}
	for n := range 31 {
		a := rpc(legacy, "ping", nil).withToken("limited")
		if n%2 == 1 { // a refused batch also counts against the limit
			a.body = "[" + a.body + "]"
		}
		r = w.send(a)
		if got := r.header.Get("RateLimit-Remaining"); got != strconv.Itoa(max(0, 29-n)) {
			t.Errorf("request %d: %q remaining", n, got)
		}
	}
	r.wantProblem(t, http.StatusTooManyRequests, core.CodeRateLimited)
	for name, want := range map[string]string{
		"RateLimit-Limit": "30", "RateLimit-Remaining": "0", "RateLimit-Reset": "60",
		"X-Ratelimit-Limit": "30", "X-Ratelimit-Remaining": "0", "X-Ratelimit-Reset": "60",
		"Ratelimit-Policy": "30;w=60", "Retry-After": "60",
	} {
		if got := r.header.Get(name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	for range 5 {
		w.send(rpc(legacy, "ping", nil).withToken("limited")).wantProblem(t, http.StatusTooManyRequests, core.CodeRateLimited)
	}
	if lines := w.log.lines(t, "request refused"); len(lines) != 16 || lines[15]["outcome"] != "rate_limited" || lines[15]["org_id"] == nil {
		t.Errorf("%d lines for 15 batches and 6 calls above the limit, which have one: %v", len(lines), lines)
	}
}

func TestBatchesAreRefusedAtEveryRevision(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, revision := range append([]string{"-"}, allRevisions...) {
		a := rpc(revision, "tools/list", nil)
		a.body = " \n[" + a.body + "]"
		w.send(a).wantProblem(t, http.StatusBadRequest, core.CodeValidationFailed)
	}
}

func TestMediaTypes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	list := rpc(legacy, "tools/list", nil)
	w.send(list.with("Content-Type", "text/plain")).wantProblem(t, http.StatusUnsupportedMediaType, core.CodeValidationFailed)
	w.send(list.with("Content-Type", "")).wantProblem(t, http.StatusUnsupportedMediaType, core.CodeValidationFailed)
	w.send(list.with("Content-Type", "application/json\ntext/plain")).wantProblem(t, http.StatusUnsupportedMediaType, core.CodeValidationFailed)
	for _, encoding := range []string{"gzip", "identity, gzip", "identity\ngzip"} {
		p := w.send(list.with("Content-Encoding", encoding)).wantProblem(t, http.StatusUnsupportedMediaType, core.CodeValidationFailed)
		if len(p.Errors) != 1 || p.Errors[0].Field != "Content-Encoding" {
			t.Errorf("%q is refused with %+v", encoding, p.Errors)
		}
	}
	w.send(list.with("Content-Encoding", "Identity")).result(t)
	w.send(list.with("Accept", "text/html")).wantProblem(t, http.StatusNotAcceptable, core.CodeValidationFailed)
	w.send(list.with("Content-Type", "application/json; charset=utf-8")).result(t)
	w.send(list.with("Accept", "application/json")).result(t)
	w.send(list.with("Accept", "text/event-stream, */*;q=0.1")).result(t)
}

func TestRequestID(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for sent, echoed := range map[string]bool{
		"trace-1":                true,
		"A.z_0:9-":               true,
		strings.Repeat("a", 128): true,
		strings.Repeat("a", 129): false,
		"with space":             false,
		"slash/":                 false,
		"umlaut\u00e4":           false,
	} {
		got := w.send(rpc(legacy, "ping", nil).with("X-Request-Id", sent)).header.Get("X-Request-Id")
		if (got == sent) != echoed || !echoed && !core.IsID(got) {
			t.Errorf("X-Request-Id %q came back as %q", sent, got)
		}
	}
}

func TestRefusalsAreLoggedWithoutSecrets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send(rpc(legacy, "tools/list", nil).withToken("stranger-token"))
	w.send(rpc(legacy, "tools/call", map[string]any{"name": "ann@example.com"}).with("X-Request-Id", "trace-2"))
	w.send(call(legacy, "contacts_upsert", map[string]any{"email": "ann@example.com"}).withToken("reader"))
	lines := w.log.lines(t, "request refused")
	var outcomes []any
	for _, line := range lines {
		outcomes = append(outcomes, line["outcome"])
	}
	if want := []any{"invalid_key", "-32602", "invalid_scope"}; !cmp.Equal(outcomes, want) {
		t.Fatalf("outcomes %v, want %v", outcomes, want)
	}
	if lines[1]["request_id"] != "trace-2" || lines[1]["org_id"] == nil || lines[2]["operation"] != "contacts_upsert" {
		t.Errorf("lines %v", lines)
	}
	for _, secret := range []string{"stranger-token", "ann@example.com", "Bearer"} {
		if strings.Contains(w.log.String(), secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
}

func TestPanicBeforeAnyToolEndsOneRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.send(rpc(legacy, "tools/list", nil).withToken("panic"))
	r.wantProblem(t, http.StatusInternalServerError, core.CodeInternalError)
	if strings.Contains(r.body, "secret") {
		t.Errorf("the answer speaks of the inside: %s", r.body)
	}
	if lines := w.log.lines(t, "panic"); len(lines) != 1 || lines[0]["request_id"] != r.header.Get("X-Request-Id") {
		t.Errorf("log: %v", lines)
	}
	w.wantQuiet(t)
	w.send(rpc(legacy, "tools/list", nil)).result(t)
}

// endless is a request body that never ends and counts how many bytes were read. It fails
// after 64 MiB.
type endless struct {
	read   int64
	filler byte
}

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.filler
	}
	e.read += int64(len(p))
	if e.read > 64<<20 {
		return 0, errors.New("64 MiB were read")
	}
	return len(p), nil
}

func TestLargeBodiesAreRefusedUnread(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	announced := &endless{filler: ' '}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+"/mcp", io.LimitReader(announced, 64<<20))
	w.must(err)
	r.ContentLength = 64 << 20
	r.Header.Set("Authorization", "Bearer live")
	r.Header.Set("Content-Type", "application/json")
	response, err := w.http.Do(r)
	if err == nil { // the server may also close the connection while the client sends
		response.Body.Close()
		if response.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("announced: %d", response.StatusCode)
		}
	}
	for name, body := range map[string]*endless{"spaces": {filler: ' '}, "brackets": {filler: '['}, "zeros": {filler: 0}} {
		answer := serve(w, body)
		if answer.Code != http.StatusRequestEntityTooLarge || !strings.Contains(answer.Body.String(), "1 MiB") {
			t.Errorf("%s: %d %s", name, answer.Code, answer.Body)
		}
		if body.read > 3<<20 {
			t.Errorf("%s: %d bytes were read", name, body.read)
		}
	}
}
