package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestAdminDisablesAndDeletesPeople checks, beside a running server, that a disabled person's
// tokens end, that API keys stay valid unless they are revoked, and that a deleted person is
// gone.
func TestAdminDisablesAndDeletesPeople(t *testing.T) {
	t.Parallel()
	eachWithServer(t, func(t *testing.T, s shell, _ *process, port int) {
		org := s.does("org", "create", "acme")
		s.mustRun("user", "create", "eve@example.com", "--org", "acme", "--role", "owner")
		client := s.does("client", "create", "acme", "--name", "App", "--scopes", "read", "--redirect-uri", "https://a.example/")
		_, family := s.grant(port, org["id"].(string), client)
		key := s.does("key", "create", "acme", "--name", "CI", "--scopes", "read")
		lists, token := fmt.Sprintf("http://localhost:%d/v1/lists", port), family["access_token"].(string)
		answers(t, lists, token, 200, `"data"`)

		s.refuses("no person", "user", "disable", "nobody@example.com")
		ended := s.does("user", "disable", "ada@example.com")
		if ended["grants_revoked"] != 1.0 || ended["disabled_at"] == nil || fmt.Sprint(ended["last_owner_of"]) != "[]" {
			t.Errorf("disabled %v", ended)
		}
		answers(t, lists, token, 401, "invalid_key")
		if status, response := tokens(t, port+1, "/oauth/token", client, "grant_type", "refresh_token", "refresh_token", family["refresh_token"].(string)); status != 400 {
			t.Errorf("a refresh gets %d %v", status, response)
		}
		answers(t, lists, key["secret"].(string), 200, `"data"`)
		if enabled := s.does("user", "enable", "ada@example.com"); enabled["disabled_at"] != nil {
			t.Errorf("enabled %v", enabled)
		}
		answers(t, lists, token, 401, "invalid_key")

		plan := s.mustRun("user", "delete", "ada@example.com", "--dry-run")
		if !strings.Contains(plan, "would delete") || !strings.Contains(plan, "rows of members") {
			t.Errorf("plan:\n%s", plan)
		}
		s.mustRun("user", "set-role", "acme", "eve@example.com", "member")
		s.refuses("last owner of acme (acme)", "user", "delete", "ada@example.com")
		s.mustRun("user", "set-role", "acme", "eve@example.com", "owner")
		deleted := s.does("user", "delete", "ada@example.com")
		if !strings.Contains(fmt.Sprint(deleted["tables"]), "map[rows:1 table:members]") {
			t.Errorf("deleted %v", deleted)
		}
		s.refuses("no person", "user", "delete", "ada@example.com")
		if audit := s.mustRun("audit", "list", "acme"); !strings.Contains(audit, "user.deleted") || strings.Contains(audit, "ada@example.com") {
			t.Errorf("audit log:\n%s", audit)
		}
	})
}
