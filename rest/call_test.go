package rest_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/rest"
)

func TestChallenges(t *testing.T) {
	t.Parallel()
	s, _ := newProbeStack(t)
	const metadata = `resource_metadata="` + baseURL + `/.well-known/oauth-protected-resource"`
	nothing := s.key(s.org.ID, core.Live, nil)
	for name, tc := range map[string]struct {
		authorization string
		status        int
		code          core.Code
		want          []string
	}{
		"no credential": {"", 401, core.CodeInvalidKey, []string{metadata, `scope="api.contacts.view"`}},
		"unknown":       {"Bearer sk_live_" + strings.Repeat("A", 52), 401, core.CodeInvalidKey, []string{metadata, `error="invalid_token"`}},
		"malformed":     {"Basic eDp5", 401, core.CodeInvalidKey, []string{metadata, `error="invalid_token"`}},
		"no scope":      {"Bearer " + nothing, 403, core.CodeInvalidScope, []string{metadata, `error="insufficient_scope"`, `scope="api.contacts.view"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := s.do(t, "GET", "/v1/contacts/a@example.com", "", "Authorization", tc.authorization)
			p := a.wantRefusal(tc.status, tc.code)
			challenge := a.Header().Get("WWW-Authenticate")
			if !strings.HasPrefix(challenge, "Bearer ") {
				t.Errorf("WWW-Authenticate = %q", challenge)
			}
			for _, part := range tc.want {
				if !strings.Contains(challenge, part) {
					t.Errorf("WWW-Authenticate = %q, want %s in it", challenge, part)
				}
			}
			if tc.authorization == "" && strings.Contains(challenge, "error=") {
				t.Errorf("an error is named to who sent no credential: %q", challenge)
			}
			if tc.code == core.CodeInvalidScope && p.Scope != core.ContactsView {
				t.Errorf("scope = %q", p.Scope)
			}
		})
	}
}

// TestScopesComeBeforeArguments checks that a caller without the required scope gets the
// error about the scope, even if the arguments are invalid.
func TestScopesComeBeforeArguments(t *testing.T) {
	t.Parallel()
	s, _ := newProbeStack(t)
	reader := "Bearer " + s.key(s.org.ID, core.Live, core.NewScopes("api.contacts.view"))
	s.do(t, "POST", "/v1/contacts?x=y", `{"nonsense":`, "Authorization", reader, "Content-Type", "text/plain").wantRefusal(403, core.CodeInvalidScope)
	s.do(t, "DELETE", "/v1/contacts/%FF", "x", "Authorization", "Bearer "+s.test).wantRefusal(403, core.CodeTestEnvironmentForbidden)
}

func TestUnknownPathsAndMethods(t *testing.T) {
	t.Parallel()
	s, _ := newProbeStack(t)
	for _, path := range []string{"/", "/v1", "/v2/contacts", "/V1/contacts", "/v1/contacts/a/b", "/v1/contacts/", "/v1/%63ontacts"} {
		s.do(t, "GET", path, "").wantRefusal(404, core.CodeNotFound)
	}
	for target, methods := range map[string]string{
		"/v1/contacts":     "GET, HEAD, POST",
		"/v1/contacts/a@b": "DELETE, GET, HEAD, PATCH, PUT",
		"/v1/_health":      "GET, HEAD",
	} {
		for _, method := range []string{"TRACE", "OPTIONS", "MAKEUP"} {
			a := s.do(t, method, target, "")
			a.wantRefusal(405, core.CodeMethodNotAllowed)
			allowed := strings.Split(a.Header().Get("Allow"), ", ")
			slices.Sort(allowed)
			if got := strings.Join(allowed, ", "); got != methods {
				t.Errorf("%s %s: Allow = %q, want %q", method, target, got, methods)
			}
		}
	}
}

func TestHEADIsGETWithoutABody(t *testing.T) {
	t.Parallel()
	s, _ := newProbeStack(t)
	get := s.do(t, "GET", "/v1/account", "").want(200)
	head := s.do(t, "HEAD", "/v1/account", "").want(200)
	for _, name := range []string{"Content-Type", "Content-Length", "Cache-Control"} {
		if g, h := get.Header().Get(name), head.Header().Get(name); g != h || g == "" {
			t.Errorf("%s: GET %q, HEAD %q", name, g, h)
		}
	}
}

func TestIdempotency(t *testing.T) {
	t.Parallel()
	s, p := newProbeStack(t)
	put := func(key, body string) *answer { return s.do(t, "PUT", "/v1/probes/new", body, "Idempotency-Key", key) }
	first := put("k1", `{"note":"x"}`).want(201)
	again := put(`"k1"`, ` { "note" : "x" } `).want(201)
	if first.Body.String() != again.Body.String() || p.calls.Load() != 1 {
		t.Errorf("first %s, again %s, %d calls", first.Body, again.Body, p.calls.Load())
	}
	if first.Header().Get("Idempotent-Replayed") != "" || again.Header().Get("Idempotent-Replayed") != "true" {
		t.Errorf("Idempotent-Replayed: first %q, again %q", first.Header().Get("Idempotent-Replayed"), again.Header().Get("Idempotent-Replayed"))
	}
	put("k1", `{"note":"y"}`).wantRefusal(409, core.CodeConflict)
	s.do(t, "PUT", "/v1/probes/other", `{"note":"x"}`, "Idempotency-Key", "k1").wantRefusal(409, core.CodeConflict)
	put("k2", `{"note":1}`).wantRefusal(422, core.CodeValidationFailed)
	put("k2", `{"note":"x"}`).want(201)
	if n := p.calls.Load(); n != 2 {
		t.Errorf("%d calls, want 2", n)
	}
	s.do(t, "DELETE", "/v1/probes/gone", "", "Idempotency-Key", "k3").want(204)
	if h := s.do(t, "DELETE", "/v1/probes/gone", "", "Idempotency-Key", "k3").want(204).Header(); h.Get("Idempotent-Replayed") != "true" {
		t.Error("a replayed 204 does not say so")
	}
	s.clock.Advance(24*time.Hour - time.Second)
	put("k1", `{"note":"x"}`).want(201)
	if n := p.calls.Load(); n != 3 {
		t.Errorf("%d calls within the window, want 3", n)
	}
	s.clock.Advance(2 * time.Second)
	put("k1", `{"note":"y"}`).want(201)
	if n := p.calls.Load(); n != 4 {
		t.Errorf("%d calls after the window, want 4", n)
	}
}

func TestIdempotencyInFlight(t *testing.T) {
	t.Parallel()
	s, p := newProbeStack(t)
	done := make(chan *answer)
	go func() { done <- s.do(t, "POST", "/v1/waits", `{"name":"a"}`, "Idempotency-Key", "k") }()
	<-p.entered
	a := s.do(t, "POST", "/v1/waits", `{"name":"a"}`, "Idempotency-Key", "k")
	a.wantRefusal(409, core.CodeConflict)
	if got := a.Header().Get("Retry-After"); got != "1" {
		t.Errorf("Retry-After = %q, want 1", got)
	}
	close(p.proceed)
	(<-done).want(201)
	if h := s.do(t, "POST", "/v1/waits", `{"name":"a"}`, "Idempotency-Key", "k").want(201).Header(); h.Get("Idempotent-Replayed") != "true" {
		t.Error("the answer after the wait is not a replay")
	}
}

func TestIdempotencyKeyHeader(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		`k`: "k", `"k"`: "k", `  "k"  `: "k", `"a b"`: "a b", `"a\"b\\"`: `a"b\`, `a=b;c`: "a=b;c", `0`: "0",
	} {
		if got, err := rest.IdempotencyKey([]string{header}); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", header, got, err, want)
		}
	}
	for _, values := range [][]string{
		{""}, {" "}, {`""`}, {`"k`}, {`k"`}, {`"k"x`}, {`"k";p=1`}, {`"\k"`}, {`"k\`}, {"a b"}, {"a,b"}, {"ä"}, {"\"a\tb\""}, {"a", "b"}, {"a", "a"},
	} {
		_, err := rest.IdempotencyKey(values)
		if e := core.AsError(err); e == nil || e.Code != core.CodeValidationFailed || e.Fields[0].Field != "Idempotency-Key" {
			t.Errorf("%q: %v, want validation_failed", values, err)
		}
	}
	if got, err := rest.IdempotencyKey(nil); got != "" || err != nil {
		t.Errorf("no header: %q, %v", got, err)
	}
	s, _ := newProbeStack(t)
	s.do(t, "PUT", "/v1/probes/a", `{}`, "Idempotency-Key", strings.Repeat("k", 255)).want(200)
	s.do(t, "PUT", "/v1/probes/a", `{}`, "Idempotency-Key", strings.Repeat("k", 256)).wantRefusal(422, core.CodeValidationFailed)
	s.do(t, "GET", "/v1/probes/a", "", "Idempotency-Key", `"`).want(200) // reads take none
}

func TestPanicEndsOneRequest(t *testing.T) {
	t.Parallel()
	s, _ := newProbeStack(t)
	a := s.do(t, "GET", "/v1/panics/secret-name", "")
	p := a.wantRefusal(500, core.CodeInternalError)
	if strings.Contains(a.Body.String(), "mistake") {
		t.Errorf("the answer tells of the panic: %s", a.Body)
	}
	log := s.log.String()
	for _, part := range []string{"probes_test.go", p.RequestID} {
		if !strings.Contains(log, part) {
			t.Errorf("the log lacks %q", part)
		}
	}
	if strings.Contains(log, "a mistake in the program") {
		t.Errorf("the log repeats the panic's own words: %s", log)
	}
	s.do(t, "GET", "/v1/probes/a", "").want(200)
}

// hostile is a response writer that panics when the body is written.
type hostile struct{ *httptest.ResponseRecorder }

func (hostile) Write([]byte) (int, error) { panic("no mail to jane@example.com") }

// TestPanicOutsideOfOperations checks that a panic outside an operation ends the
// connection. The log must show where the panic happened, but not the text of the panic.
func TestPanicOutsideOfOperations(t *testing.T) {
	t.Parallel()
	s, _ := newProbeStack(t)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/probes/a", nil)
	func() {
		defer func() {
			if err, _ := recover().(error); !errors.Is(err, http.ErrAbortHandler) {
				t.Errorf("the connection does not end: %v", err)
			}
		}()
		s.handler.ServeHTTP(hostile{httptest.NewRecorder()}, r)
	}()
	if log := s.log.String(); !strings.Contains(log, "call_test.go") || !strings.Contains(log, "/v1/probes/{name}") || strings.Contains(log, "jane") {
		t.Errorf("logged %s", log)
	}
}

func TestInternalErrorsAreNotInTheResponse(t *testing.T) {
	t.Parallel()
	s, _ := newProbeStack(t)
	a := s.do(t, "GET", "/v1/failures/a", "")
	p := a.wantRefusal(500, core.CodeInternalError)
	if strings.Contains(a.Body.String(), "secret") {
		t.Errorf("the answer tells the cause: %s", a.Body)
	}
	if log := s.log.String(); !strings.Contains(log, "the secret inside") || !strings.Contains(log, p.RequestID) {
		t.Errorf("the log lacks the cause or the request id: %s", log)
	}
}

// TestLogOfRefusals checks that the server writes one log line for a request that it
// refuses before any operation runs. The line must contain the request id, but no address
// that the caller sent.
func TestLogOfRefusals(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		method, target string
		headers        []string
		want           []string
	}{
		"no path":       {"GET", "/v9/ada@example.com?q=ada@example.com", nil, []string{`"route":""`, `"outcome":"not_found"`, `"status":404`}},
		"no method":     {"ADA", "/v1/contacts/ada@example.com", nil, []string{`"method":"other"`, `"outcome":"method_not_allowed"`}},
		"no credential": {"GET", "/v1/contacts/ada@example.com", []string{"Authorization", "Bearer ada@example.com"}, []string{`"route":"/v1/contacts/{email}"`, `"outcome":"invalid_key"`}},
		"bad query":     {"GET", "/v1/contacts/x?email=ada@example.com", nil, []string{`"outcome":"validation_failed"`, `"status":422`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := newProbeStack(t)
			s.do(t, tc.method, tc.target, "", append(tc.headers, "X-Request-Id", "the-id")...)
			log := s.log.String()
			if strings.Count(log, "\n") != 1 || strings.Contains(log, "ada") || strings.Contains(log, "sk_live") {
				t.Errorf("log = %s", log)
			}
			for _, part := range append(tc.want, `"request_id":"the-id"`) {
				if !strings.Contains(log, part) {
					t.Errorf("the log lacks %s: %s", part, log)
				}
			}
		})
	}
}

func TestRoutesThatCannotBeMounted(t *testing.T) {
	t.Parallel()
	for want, route := range map[string]rest.Route{
		"no operation":   {Method: http.MethodGet, Path: "/v1/x", Operation: "nothing", Success: 200},
		"path parameter": {Method: http.MethodGet, Path: "/v1/x/{id}", Operation: "probe_read", Success: 200},
	} {
		_, err := rest.NewServer(rest.Config{Catalogue: declarations()}, []rest.Route{route})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want an error about %q", route, err, want)
		}
	}
}

// TestRoutesHaveOperations checks that every route has an operation, and that every path
// parameter is a member of the operation's input.
func TestRoutesHaveOperations(t *testing.T) {
	t.Parallel()
	operations := declarations()
	for _, route := range rest.Routes() {
		op, ok := operations.Operation(route.Operation)
		if !ok {
			t.Errorf("%s %s: no operation %q", route.Method, route.Path, route.Operation)
			continue
		}
		members := op.Input(core.REST).Members()
		for segment := range strings.SplitSeq(route.Path, "/") {
			name, isParameter := strings.CutPrefix(segment, "{")
			if name = strings.TrimSuffix(name, "}"); isParameter && !slices.Contains(members, name) {
				t.Errorf("%s %s: %q is not a member of the input", route.Method, route.Path, name)
			}
		}
		reads := op.Info().Effect == core.Reads
		// The operations of previews and dry runs only read, although their routes are POSTs.
		previews := route.Method == http.MethodPost && (strings.HasSuffix(route.Path, "/preview") || strings.HasSuffix(route.Path, "/dry-run"))
		if (route.Method == http.MethodGet || previews) != reads {
			t.Errorf("%s %s: the operation %s", route.Method, route.Path, op.Info().Effect)
		}
		if route.MaxAge > 0 && !reads {
			t.Errorf("%s %s: a write may not be kept", route.Method, route.Path)
		}
	}
}

// declarations returns the catalogue without stores, so that its operations can be
// described but not called.
func declarations() *guardrails.Catalogue {
	return documentationCatalogue(append(newProbes().operations(), confirming())...)
}
