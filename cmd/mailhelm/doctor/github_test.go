package doctor_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/doctor"
	"github.com/mailhelm/mailhelm/core/git/github/githubtest"
)

// TestGitHubApp checks that the report says whether the app on GitHub works, also if GitHub cannot be
// reached, and shows no secret.
func TestGitHubApp(t *testing.T) {
	t.Parallel()
	stand := githubtest.New(t, time.Now)
	file := filepath.Join(t.TempDir(), "app.pem")
	write(t, file, githubtest.PEM())
	for name, c := range map[string]struct {
		change func(g *config.GitHub)
		status doctor.Status
		want   []string
	}{
		"complete":             {func(*config.GitHub) {}, doctor.OK, []string{"mailhelm-test (id 4711) at " + stand.URL}},
		"key in a file":        {func(g *config.GitHub) { g.Key = file }, doctor.OK, []string{"mailhelm-test"}},
		"no such file":         {func(g *config.GitHub) { g.Key = file + ".old" }, doctor.Fail, []string{"MAILHELM_GITHUB_KEY: must be a PEM text"}},
		"damaged key":          {func(g *config.GitHub) { g.Key = strings.Replace(g.Key, "M", "=", 1) }, doctor.Fail, []string{"MAILHELM_GITHUB_KEY"}},
		"address without TLS":  {func(g *config.GitHub) { g.URL = "http://git.example.com" }, doctor.Fail, []string{"https://"}},
		"another id":           {func(g *config.GitHub) { g.App++ }, doctor.Warn, []string{"no app with the id 4712", "--github-app"}},
		"unreachable":          {func(g *config.GitHub) { g.URL = "http://127.0.0.1:1" }, doctor.Warn, []string{"http://127.0.0.1:1 could not be asked", "not checked"}},
		"no client secret":     {func(g *config.GitHub) { g.ClientSecret = "" }, doctor.Warn, []string{"MAILHELM_GITHUB_CLIENT_SECRET"}},
		"no webhook secret":    {func(g *config.GitHub) { g.WebhookSecret = "" }, doctor.Warn, []string{"MAILHELM_GITHUB_WEBHOOK_SECRET"}},
		"short webhook secret": {func(g *config.GitHub) { g.WebhookSecret = "secret-1" }, doctor.Fail, []string{"settings", "at least 16"}},
		"no secrets at all":    {func(g *config.GitHub) { g.ClientSecret, g.WebhookSecret = "", "" }, doctor.Warn, []string{"CLIENT_SECRET", "WEBHOOK_SECRET"}},
		"no app":               {func(g *config.GitHub) { *g = config.GitHub{} }, doctor.OK, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := newConfig(t)
			cfg.GitHub = config.GitHub{URL: stand.URL, App: githubtest.AppID, Key: githubtest.PEM(), ClientSecret: "secret-of-the-client", WebhookSecret: "secret-of-the-webhook"}
			c.change(&cfg.GitHub)
			r := doctor.Examine(t.Context(), cfg, "")
			shown := text(r)
			for _, want := range c.want {
				if !strings.Contains(shown, want) {
					t.Errorf("%q is missing:%s", want, shown)
				}
			}
			if r.Status != c.status || c.want == nil && strings.Contains(shown, "GitHub") || strings.Contains(shown, "secret-of-") || strings.Contains(shown, "MII") {
				t.Errorf("%s, want %s:%s", r.Status, c.status, shown)
			}
		})
	}
}

// TestGitHubKeyOpenToOthers checks that a private key that other users can read is reported.
func TestGitHubKeyOpenToOthers(t *testing.T) {
	t.Parallel()
	stand, cfg := githubtest.New(t, time.Now), newConfig(t)
	file := filepath.Join(t.TempDir(), "app.pem")
	write(t, file, githubtest.PEM())
	chmod(t, file, 0o644)
	cfg.GitHub = config.GitHub{URL: stand.URL, App: githubtest.AppID, Key: file, ClientSecret: "c", WebhookSecret: "secret-of-the-webhook"}
	settings := filepath.Join(t.TempDir(), "mailhelm.toml")
	if err := os.WriteFile(settings, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	r := doctor.Examine(t.Context(), cfg, settings)
	if shown := text(r); r.Status != doctor.Warn || !strings.Contains(shown, closing+file) || !strings.Contains(shown, closing+settings) {
		t.Errorf("%s:%s", r.Status, shown)
	}
}
