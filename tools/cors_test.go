package tools_test

import (
	"net/http"
	"strings"
	"testing"
)

const (
	inspector = "https://inspector.test"
	stranger  = "https://evil.test"
)

// TestAnswersAreSharedWithAllowedOriginsAlone checks that pages of allowed origins can read
// every answer, including refusals. Pages of other origins must not be able to read any.
func TestAnswersAreSharedWithAllowedOriginsAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, revision := range allRevisions {
		lookup := call(revision, "contacts_lookup", map[string]any{"email": "ann@example.com"})
		garbled := lookup
		garbled.body = "{"
		for name, tc := range map[string]struct {
			ask    ask
			status int
		}{
			"a result":        {lookup, http.StatusOK},
			"no JSON":         {garbled, http.StatusBadRequest},
			"no token":        {lookup.withToken("-"), http.StatusUnauthorized},
			"a scope missing": {call(revision, "contacts_upsert", map[string]any{"email": "a@b.cc"}).withToken("reader"), http.StatusForbidden},
			"a panic":         {lookup.withToken("panic"), http.StatusInternalServerError},
			"GET":             {ask{method: "GET", revision: revision}, http.StatusMethodNotAllowed},
			"DELETE":          {ask{method: "DELETE", revision: revision}, http.StatusMethodNotAllowed},
		} {
			r := w.send(tc.ask.with("Origin", inspector))
			if r.status != tc.status || r.header.Get("Access-Control-Allow-Origin") != inspector || r.header.Get("Vary") != "Origin" {
				t.Errorf("%s at %s: %d %v", name, revision, r.status, r.header)
			}
			for _, header := range []string{"WWW-Authenticate", "Retry-After", "X-Request-Id", "RateLimit-Remaining", "X-RateLimit-Reset"} {
				if !strings.Contains(r.header.Get("Access-Control-Expose-Headers"), header) {
					t.Errorf("%s at %s: a page may not read %s", name, revision, header)
				}
			}
			refuseToShare(t, name+" with a stranger", w.send(tc.ask.with("Origin", stranger)))
			refuseToShare(t, name+" with two origins", w.send(tc.ask.with("Origin", inspector+"\n"+stranger)))
			refuseToShare(t, name+" without an origin", w.send(tc.ask))
		}
	}
}

func refuseToShare(t *testing.T, name string, r reply) {
	t.Helper()
	for header := range r.header {
		if strings.HasPrefix(header, "Access-Control-") {
			t.Errorf("%s: %s: %s", name, header, r.header.Get(header))
		}
	}
	if r.header.Get("Vary") != "Origin" {
		t.Errorf("%s: Vary %q, so a cache may give it to another origin", name, r.header.Get("Vary"))
	}
}

func TestPreflight(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	question := ask{method: "OPTIONS", token: "-", revision: "-", header: map[string]string{
		"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,content-type,mcp-method",
	}}
	r := w.send(question.with("Origin", inspector))
	for header, want := range map[string]string{
		"Access-Control-Allow-Origin": inspector, "Access-Control-Allow-Methods": "POST", "Access-Control-Max-Age": "600",
		"Vary": "Origin", "Access-Control-Allow-Credentials": "",
	} {
		if got := r.header.Get(header); got != want {
			t.Errorf("%s = %q, want %q", header, got, want)
		}
	}
	if r.status != http.StatusNoContent || r.body != "" {
		t.Errorf("%d %q", r.status, r.body)
	}
	for _, header := range []string{
		"Authorization", "Content-Type", "Accept", "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "X-Request-Id", "traceparent",
	} {
		if !strings.Contains(r.header.Get("Access-Control-Allow-Headers"), header) {
			t.Errorf("a page may not send %s", header)
		}
	}
	for origin, status := range map[string]int{
		stranger: http.StatusForbidden, "null": http.StatusForbidden, inspector + "\n" + stranger: http.StatusForbidden,
		inspector + ".evil.test": http.StatusForbidden, "": http.StatusMethodNotAllowed,
	} {
		r := w.send(question.with("Origin", origin))
		if r.status != status {
			t.Errorf("origin %q: %d, want %d", origin, r.status, status)
		}
		refuseToShare(t, "preflight of "+origin, r)
	}
	plain := w.send(question.with("Origin", inspector).with("Access-Control-Request-Method", ""))
	if plain.status != http.StatusMethodNotAllowed {
		t.Errorf("OPTIONS that is no preflight: %d", plain.status)
	}
}

// TestTheResourceDocumentIsSharedWithAll checks that a page of any origin can read the
// protected-resource document, with GET and HEAD only.
func TestTheResourceDocumentIsSharedWithAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, path := range []string{"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"} {
		read := w.send(ask{method: "GET", path: path, token: "-", header: map[string]string{"Origin": stranger}})
		asked := w.send(ask{method: "OPTIONS", path: path, token: "-", header: map[string]string{
			"Origin": stranger, "Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "mcp-protocol-version",
		}})
		if read.status != http.StatusOK || asked.status != http.StatusNoContent || asked.header.Get("Access-Control-Allow-Methods") != "GET, HEAD" {
			t.Errorf("%s: %d, %d %v", path, read.status, asked.status, asked.header)
		}
		for _, r := range []reply{read, asked} {
			if r.header.Get("Access-Control-Allow-Origin") != "*" || r.header.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("%s: %v", path, r.header)
			}
		}
	}
	r := w.send(ask{method: "GET", path: "/mcp/_health", token: "-", header: map[string]string{"Origin": inspector}})
	if r.header.Get("Access-Control-Allow-Origin") != "" {
		t.Error("the health check is shared with pages")
	}
}
