package connecting

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/connecting/connectingtest"
)

// program returns the inputs and outputs of a command. Waiting moves the clock.
func program(ctx context.Context, stdin string) (*cli.Program, *strings.Builder) {
	out := &strings.Builder{}
	return &cli.Program{Ctx: ctx, Stdin: strings.NewReader(stdin), Stdout: out, Stderr: &strings.Builder{}}, out
}

// movedClock is a clock that waiting moves.
type movedClock struct{ now time.Time }

func (c *movedClock) surroundings() surroundings {
	return surroundings{clock: func() time.Time { return c.now }, wait: func(ctx context.Context, d time.Duration) error {
		c.now = c.now.Add(d)
		return ctx.Err()
	}}
}

func TestToken(t *testing.T) {
	t.Parallel()
	s := connectingtest.Start(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]Token{
		"file":        {SecretFile: secret},
		"input":       {SecretFile: "-"},
		"environment": {ClientSecret: "s3cret"},
	} {
		p, out := program(t.Context(), "s3cret\n")
		c.Client, c.Server, c.JSON = "id", s.Address(), true
		if err := c.Run(p); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got printedToken
		if err := json.Unmarshal([]byte(out.String()), &got); err != nil || !strings.HasPrefix(got.AccessToken, "access-") || got.Resource != s.URL || got.Scope != "api.lists.view" {
			t.Errorf("%s: %s, %v", name, out, err)
		}
	}
	p, out := program(t.Context(), "")
	c := Token{Client: "id", Server: s.Address()}
	if err := c.Run(p); err == nil || !strings.Contains(err.Error(), "MAILHELM_CLIENT_SECRET") || out.Len() > 0 {
		t.Errorf("without a secret: %v, %s", err, out)
	}
}

// TestTokenWatch checks that the file of --out always has a valid token during an hour, that
// a temporary failure does not end the command, and that a signal ends it without an error.
func TestTokenWatch(t *testing.T) {
	t.Parallel()
	s := connectingtest.Start(t)
	failures := 2
	s.Fail = func(w http.ResponseWriter) bool {
		failures--
		if failures < 0 {
			return false
		}
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}
	ctx, stop := context.WithCancel(t.Context())
	clock := &movedClock{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	began := clock.now
	c := Token{Client: "id", ClientSecret: "s", Server: s.Address(), Watch: true, JSON: true, Out: filepath.Join(t.TempDir(), "token"), surroundings: clock.surroundings()}
	wait := c.wait
	c.wait = func(ctx context.Context, d time.Duration) error {
		if clock.now.Sub(began) > time.Hour {
			stop()
		}
		if raw, err := os.ReadFile(c.Out); err == nil {
			var got printedToken
			if err := json.Unmarshal(raw, &got); err != nil || got.ExpiresAt.Sub(clock.now) < time.Minute {
				t.Errorf("after %v: %s, %v", clock.now.Sub(began), raw, err)
			}
		}
		return wait(ctx, d)
	}
	p, out := program(ctx, "")
	if err := c.Run(p); err != nil || out.Len() > 0 {
		t.Errorf("%v, %s", err, out)
	}
	if info, err := os.Stat(c.Out); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if got := s.Requests("client_credentials"); got != 8 { // 0, 12, 24, 36, 48 and 60 minutes
		t.Errorf("%d requests: want 2 that failed, and one each 12 minutes of an hour", got)
	}
}

func TestTokenIsRefused(t *testing.T) {
	t.Parallel()
	s := connectingtest.Start(t)
	s.Fail = func(w http.ResponseWriter) bool {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"error":"invalid_client","error_description":"Wrong."}`))
		return true
	}
	c := Token{Client: "id", ClientSecret: "s3cret", Server: s.Address(), Watch: true}
	p, _ := program(t.Context(), "")
	err := c.Run(p)
	if err == nil || !strings.Contains(err.Error(), "invalid_client: Wrong.") || strings.Contains(err.Error(), "s3cret") || s.Requests("client_credentials") != 1 {
		t.Errorf("%v after %d requests", err, s.Requests("client_credentials"))
	}
}
