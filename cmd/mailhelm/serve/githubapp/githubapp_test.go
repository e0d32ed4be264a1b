package githubapp_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/githubapp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/git/github/githubtest"
)

const secret = "a secret of webhooks"

func configured() config.Config {
	return config.Config{
		Clock: time.Now, Log: slog.New(slog.DiscardHandler),
		GitHub: config.GitHub{App: githubtest.AppID, Key: githubtest.PEM(), WebhookSecret: secret},
	}
}

// syncs has two organizations with the repository acme/definitions, of which one disconnects.
type syncs struct {
	failure   error
	requested []string
}

func (s *syncs) OrgsOf(_ context.Context, installation int64, location string) ([]string, error) {
	if installation != 99 || location != "" && location != "acme/definitions" {
		return nil, nil
	}
	return []string{"one", "gone", "two"}, nil
}

func (s *syncs) RequestSync(_ context.Context, orgID string) error {
	if orgID == "gone" {
		return core.NotFound("repository")
	}
	s.requested = append(s.requested, orgID)
	return s.failure
}

func post(h http.Handler, event, id, body string) int {
	r := httptest.NewRequest(http.MethodPost, "/github/webhook", strings.NewReader(body))
	r.Header.Set("X-GitHub-Event", event)
	r.Header.Set("X-GitHub-Delivery", id)
	r.Header.Set("X-Hub-Signature-256", githubtest.Sign(secret, body))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code
}

func TestWebhooks(t *testing.T) {
	t.Parallel()
	p, err := githubapp.Open(configured())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	s := &syncs{}
	h := p.Route(s, http.NotFoundHandler())
	push := `{"ref": "refs/heads/main", "repository": {"full_name": "acme/definitions", "default_branch": "main"}, "installation": {"id": 99}}`
	for _, c := range []struct {
		event, id, body string
		failure         error
		status          int
		requested       int
	}{
		{"push", "1", push, nil, http.StatusAccepted, 2},
		{"push", "1", push, nil, http.StatusOK, 0},
		{"push", "2", push, errors.New("no database"), http.StatusServiceUnavailable, 2},
		{"push", "2", push, nil, http.StatusAccepted, 2}, // sent again by a person
		{"push", "3", strings.ReplaceAll(push, "definitions", "other"), nil, http.StatusAccepted, 0},
		{"installation", "4", `{"action": "deleted", "installation": {"id": 99}}`, nil, http.StatusAccepted, 2},
		{"ping", "5", `{}`, nil, http.StatusAccepted, 0},
		{"push", "6", `{`, nil, http.StatusBadRequest, 0},
	} {
		s.requested, s.failure = nil, c.failure
		if status := post(h, c.event, c.id, c.body); status != c.status || len(s.requested) != c.requested {
			t.Errorf("%s %s: %d, %v", c.event, c.id, status, s.requested)
		}
	}
	s.requested = nil
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/github/webhook", strings.NewReader(push)))
	if w.Code != http.StatusUnauthorized || len(s.requested) != 0 {
		t.Errorf("unsigned: %d %v", w.Code, s.requested)
	}
	if status := post(h, "push", "7", push+strings.Repeat(" ", 5<<20)); status != http.StatusRequestEntityTooLarge {
		t.Errorf("large: %d", status)
	}
	w = httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/github/webhook/", nil))
	if w.Code != http.StatusNotFound {
		t.Errorf("another path: %d", w.Code)
	}
}

// TestOpen checks servers without an app, without a secret of webhooks, with the key in a file, and with
// keys that are refused without being shown.
func TestOpen(t *testing.T) {
	t.Parallel()
	none := configured()
	none.GitHub = config.GitHub{}
	unhooked := configured()
	unhooked.GitHub.WebhookSecret = ""
	for name, cfg := range map[string]config.Config{"none": none, "unhooked": unhooked} {
		p, err := githubapp.Open(cfg)
		if err != nil || (p.App == nil) != (name == "none") {
			t.Fatalf("%s: %v %v", name, p, err)
		}
		if status := post(p.Route(&syncs{}, http.NotFoundHandler()), "ping", "1", "{}"); status != http.StatusNotFound {
			t.Errorf("%s: %d", name, status)
		}
		p.Close()
	}
	file := configured()
	path := filepath.Join(t.TempDir(), "app.pem")
	if err := os.WriteFile(path, []byte(file.GitHub.Key), 0o600); err != nil {
		t.Fatal(err)
	}
	file.GitHub.Key = path
	p, err := githubapp.Open(file)
	if err != nil || p.App == nil {
		t.Fatalf("a file: %v", err)
	}
	p.Close()
	for _, key := range []string{"-----BEGIN secret", path + ".secret"} {
		file.GitHub.Key = key
		if _, err := githubapp.Open(file); err == nil || strings.Contains(fmt.Sprint(err), "secret") {
			t.Errorf("%q: %v", key, err)
		}
	}
}
