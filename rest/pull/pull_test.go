package pull_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inboxes"
	"github.com/mailhelm/mailhelm/rest/pull"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// source has one inbox, with the secret "good". It remembers the last query.
type source struct{ asked inboxes.Query }

func (s *source) find(secret string) error {
	switch secret {
	case "good":
		return nil
	case "expired":
		return &core.Error{Code: core.CodeInboxExpired, Message: "The inbox expired."}
	case "broken":
		return core.Internal(errors.New("no disk"))
	}
	return core.NotFound("inbox link")
}

func (s *source) PullSummary(_ context.Context, secret string) (inboxes.Summary, error) {
	return inboxes.Summary{Address: "abc@inbox.test", Status: inboxes.Active, ExpiresAt: start, MessageCount: 2, DroppedCount: 1}, s.find(secret)
}

func (s *source) PullMessages(_ context.Context, secret string, q inboxes.Query) (inboxes.Arrived, error) {
	s.asked = q
	return inboxes.Arrived{Messages: []inboxes.MessageView{}, Cursor: "7", ExpiresAt: start}, s.find(secret)
}

// ServeLink serves one object, with the token "object".
func (s *source) ServeLink(w http.ResponseWriter, _ *http.Request, token string) error {
	if token != "object" {
		return core.NotFound("object")
	}
	_, err := w.Write([]byte("content"))
	return err
}

// host is a fetch host with its source and its log.
type host struct {
	http.Handler
	source source
	log    strings.Builder
}

func newHost() *host {
	h := &host{}
	h.Handler = pull.New(pull.Config{
		Inboxes: &h.source, Objects: &h.source, ObjectPath: "/o/", Remote: func(r *http.Request) string { return r.RemoteAddr },
		DocsURL: "https://app.test/docs", Clock: func() time.Time { return start }, Log: slog.New(slog.NewJSONHandler(&h.log, nil)),
	})
	return h
}

func (h *host) ask(method, path, authorization string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestAnswers checks the answers to requests that are served.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ method, path, body string }{
		"health":         {http.MethodGet, "/_health", `{"status":"ok"}`},
		"health by HEAD": {http.MethodHead, "/_health", `{"status":"ok"}`},
		"inbox":          {http.MethodGet, "/p/good", `{"address":"abc@inbox.test","status":"active","expires_at":"2026-03-01T12:00:00Z","message_count":2,"dropped_count":1,"restricted":false}`},
		"messages":       {http.MethodGet, "/p/good/messages?after=3&wait=25&_=1", `{"messages":[],"cursor":"7","expires_at":"2026-03-01T12:00:00Z"}`},
		"object":         {http.MethodGet, "/o/object", `content`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHost()
			w := h.ask(tc.method, tc.path, "")
			if w.Code != 200 || w.Body.String() != tc.body || w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Referrer-Policy") != "no-referrer" {
				t.Errorf("%d %s %v", w.Code, w.Body, w.Header())
			}
			if got := w.Header().Get("Access-Control-Allow-Origin"); (got == "*") == strings.HasPrefix(tc.path, "/_") {
				t.Errorf("allowed origin %q", got)
			}
			if h.log.Len() > 0 {
				t.Errorf("the log has %s", h.log.String())
			}
		})
	}
}

// TestQuery checks what a poll asks for.
func TestQuery(t *testing.T) {
	t.Parallel()
	h := newHost()
	h.ask(http.MethodGet, "/p/good/messages?after=3&wait=25&match_sender=%40shop.example&match_subject=code&match_contains=a+b", "")
	want := inboxes.Query{After: 3, Wait: 25 * time.Second, Match: inboxes.Match{Sender: "@shop.example", Subject: "code", Contains: "a b"}}
	if h.source.asked != want {
		t.Errorf("%+v", h.source.asked)
	}
	for _, query := range []string{"wait=26", "wait=-1", "wait=", "wait=1.5", "after=x", "after=-1", "after=9007199254740992", "match_subject=" + strings.Repeat("x", 255)} {
		w := h.ask(http.MethodGet, "/p/good/messages?"+query, "")
		if name, _, _ := strings.Cut(query, "="); w.Code != 422 || !strings.Contains(w.Body.String(), `"field":"`+name+`"`) {
			t.Errorf("%s: %d %s", query, w.Code, w.Body)
		}
	}
}

// TestRefusals checks the form of each refusal, and that the log has neither the link nor the
// credential.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		method, path, authorization string
		status                      int
		code                        core.Code
	}{
		"health by POST":         {http.MethodPost, "/_health", "", 405, core.CodeMethodNotAllowed},
		"unknown link":           {http.MethodGet, "/p/secret-link", "", 404, core.CodeNotFound},
		"unknown messages":       {http.MethodGet, "/p/secret-link/messages", "", 404, core.CodeNotFound},
		"empty link":             {http.MethodGet, "/p/", "", 404, core.CodeNotFound},
		"path below a link":      {http.MethodGet, "/p/good/other", "", 404, core.CodeNotFound},
		"slash at the end":       {http.MethodGet, "/p/good/messages/", "", 404, core.CodeNotFound},
		"unknown object":         {http.MethodGet, "/o/secret-link", "", 404, core.CodeNotFound},
		"object by POST":         {http.MethodPost, "/o/object", "", 405, core.CodeMethodNotAllowed},
		"expired":                {http.MethodGet, "/p/expired/messages", "", 410, core.CodeInboxExpired},
		"broken":                 {http.MethodGet, "/p/broken", "", 500, core.CodeInternalError},
		"link by DELETE":         {http.MethodDelete, "/p/good", "", 405, core.CodeMethodNotAllowed},
		"root":                   {http.MethodGet, "/", "", 404, core.CodeNotFound},
		"credential":             {http.MethodGet, "/p/good", "Bearer sk_live_x", 400, core.CodeWrongHost},
		"credential, unknown":    {http.MethodGet, "/p/secret-link", "Bearer sk_live_x", 400, core.CodeWrongHost},
		"credential at health":   {http.MethodGet, "/_health", "Basic eDp5", 400, core.CodeWrongHost},
		"credential at object":   {http.MethodGet, "/o/object", "Basic eDp5", 400, core.CodeWrongHost},
		"empty credential":       {http.MethodGet, "/p/good", " ", 400, core.CodeWrongHost},
		"credential, other verb": {http.MethodDelete, "/", "Bearer x", 400, core.CodeWrongHost},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHost()
			w := h.ask(tc.method, tc.path, tc.authorization)
			if w.Code != tc.status {
				t.Fatalf("status = %d, want %d: %s", w.Code, tc.status, w.Body)
			}
			for _, secret := range []string{"secret-link", "sk_live_x", "good", "/p/"} {
				if strings.Contains(h.log.String(), secret) {
					t.Errorf("the log holds %s: %s", secret, h.log.String())
				}
			}
			var p struct {
				core.Problem
				Error struct{ Code, Message, Detail string } `json:"error"`
			}
			if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
				t.Fatal(err)
			}
			if p.Code != tc.code || p.Type != "https://app.test/docs/api/errors/"+string(tc.code) || p.RequestID != w.Header().Get("X-Request-Id") {
				t.Errorf("problem = %+v", p)
			}
			if p.Error.Code != string(tc.code) || p.Error.Message == "" || p.Error.Detail == "" {
				t.Errorf("error = %+v", p.Error)
			}
			if !strings.Contains(h.log.String(), string(tc.code)) {
				t.Errorf("log = %q, want one line with the code", h.log.String())
			}
		})
	}
}

// TestPreflight checks the permission for browsers: no credentials, and only reads.
func TestPreflight(t *testing.T) {
	t.Parallel()
	h := newHost()
	for _, path := range []string{"/p/good/messages", "/p/good", "/p/unknown", "/o/object", "/o/unknown"} {
		w := h.ask(http.MethodOptions, path, "")
		header := w.Header()
		if w.Code != 204 || header.Get("Access-Control-Allow-Origin") != "*" || header.Get("Access-Control-Allow-Methods") != "GET, HEAD, OPTIONS" || header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: %d %v", path, w.Code, header)
		}
	}
}

// TestLimits makes more requests than a link and an address may.
func TestLimits(t *testing.T) {
	t.Parallel()
	h := newHost()
	for n := range 61 {
		if w := h.ask(http.MethodGet, "/p/good", ""); (w.Code == 200) != (n < 60) {
			t.Fatalf("request %d: %d", n+1, w.Code)
		} else if w.Code != 200 && (w.Code != 429 || w.Header().Get("Retry-After") != "1") {
			t.Errorf("%d, %v", w.Code, w.Header())
		}
	}
	for n := range 600 - 61 {
		if w := h.ask(http.MethodGet, "/p/other"+strings.Repeat("x", n), ""); w.Code != 404 {
			t.Fatalf("request %d: %d", n+62, w.Code)
		}
	}
	if w := h.ask(http.MethodGet, "/p/more", ""); w.Code != 429 {
		t.Errorf("%d", w.Code)
	}
	r := httptest.NewRequest(http.MethodGet, "/p/more", nil)
	r.RemoteAddr = "198.51.100.9:1"
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != 404 {
		t.Errorf("another address: %d", w.Code)
	}
}
