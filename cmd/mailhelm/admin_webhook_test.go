package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestAdminManagesWebhooks runs the commands about webhook endpoints beside a running
// server. The server must refuse to connect to the private address of the endpoint.
func TestAdminManagesWebhooks(t *testing.T) {
	t.Parallel()
	eachWithServer(t, func(t *testing.T, s shell, _ *process, _ int) {
		s.mustRun("org", "create", "acme")
		const url = "https://127.0.0.1:1/hook"
		first := s.does("webhook", "create", "acme", "--url", url, "--events", "clicked,bounced", "--description", "CRM")
		if fmt.Sprint(first["events"]) != "[bounced clicked]" || first["enabled"] != true || !strings.HasPrefix(first["secret"].(string), "whsec_") {
			t.Errorf("created %v", first)
		}
		s.refuses("--url", "webhook", "create", "acme", "--url", "http://example.com", "--events", "all")
		s.refuses("--events", "webhook", "create", "acme", "--url", url, "--events", "deleted")
		s.refuses("webhook list", "webhook", "update", "acme", "https://127.0.0.1/other", "--disable")

		s.mustRun("webhook", "test", "acme", url)
		awaitProblem(t, s, url, "refused_address")

		rotated := s.does("webhook", "rotate", "acme", url)
		if rotated["secret"] == first["secret"] || rotated["old_secret_until"] == nil {
			t.Errorf("rotated %v", rotated)
		}
		changed := s.does("webhook", "update", "acme", url, "--events", "all", "--disable")
		if len(changed["events"].([]any)) != 7 || changed["enabled"] != false || changed["description"] != "CRM" || changed["secret"] != nil {
			t.Errorf("changed %v", changed)
		}
		s.refuses("Enable the endpoint", "webhook", "test", "acme", url)
		if again := s.does("webhook", "update", "acme", url, "--enable", "--description", ""); again["enabled"] != true || again["description"] != "" {
			t.Errorf("enabled %v", again)
		}
		shown := s.mustRun("webhook", "list", "acme") + s.mustRun("webhook", "deliveries", "acme", url) + s.mustRun("audit", "list", "acme", "--json")
		for _, secret := range []any{first["secret"], rotated["secret"]} {
			if strings.Contains(shown, secret.(string)) {
				t.Errorf("a secret is shown again:\n%s", shown)
			}
		}
		s.mustRun("webhook", "delete", "acme", url)
		if listed := s.does("webhook", "list", "acme"); len(listed["webhooks"].([]any)) != 0 {
			t.Errorf("after deleting: %v", listed)
		}
	})
}

// awaitProblem reads the deliveries until the server has stored the problem of an attempt,
// for at most 20 seconds.
func awaitProblem(t *testing.T, s shell, url, want string) {
	t.Helper()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	end := time.After(20 * time.Second)
	for {
		listed := s.does("webhook", "deliveries", "acme", url)["deliveries"].([]any)
		if problem := listed[0].(map[string]any)["problem"]; problem == want {
			return
		}
		select {
		case <-ticker.C:
		case <-end:
			t.Fatalf("no attempt: %v", listed)
		}
	}
}
