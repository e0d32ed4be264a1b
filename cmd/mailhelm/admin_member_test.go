package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

func TestAdminMembers(t *testing.T) {
	t.Parallel()
	s := migrated(t)
	s.mustRun("org", "create", "acme")
	s.mustRun("user", "create", "ada@example.com", "--org", "acme", "--role", "owner")
	s.mustRun("user", "create", "bob@example.com", "--org", "acme")

	s.refuses("last owner", "user", "set-role", "acme", "ada@example.com", "member")
	s.refuses("last owner", "user", "remove-from-org", "acme", "ada@example.com")
	s.refuses("every permission", "user", "set-permissions", "acme", "ada@example.com", "none")
	s.refuses("no permission", "user", "set-permissions", "acme", "bob@example.com", "everything")
	s.refuses("no person", "user", "set-permissions", "acme", "eve@example.com", "none")
	s.refuses("<email> must be an email address", "user", "invite", "acme", "eve")
	s.refuses("every permission", "user", "invite", "acme", "eve@example.com", "--role", "owner", "--permissions", "all")
	s.refuses("nothing to change", "org", "edit", "acme")

	got := s.does("user", "set-permissions", "acme", "bob@example.com", "lists.view", "contacts.view")
	if fmt.Sprint(got["permissions"]) != "[contacts.view lists.view]" || got["role"] != "member" {
		t.Errorf("permissions %v", got)
	}
	if got := s.does("user", "set-role", "acme", "BOB@example.com", "owner"); got["role"] != "owner" {
		t.Errorf("role %v", got)
	}
	s.mustRun("user", "set-role", "acme", "ada@example.com", "member")
	if got := s.does("user", "remove-from-org", "acme", "ada@example.com"); got["removed"] != true {
		t.Errorf("removed %v", got)
	}

	invited := s.does("user", "invite", "acme", "ada@example.com", "--permissions", "all", "--app-url", "https://app.example.com")
	link, _ := invited["link"].(string)
	if !regexp.MustCompile(`^https://app\.example\.com/join\?token=[A-Z2-7]{52}$`).MatchString(link) {
		t.Errorf("invited %v", invited)
	}
	if printed := s.mustRun("user", "invite", "acme", "ada@example.com"); !strings.Contains(printed, "http://localhost:8081/join?token=") {
		t.Errorf("invited:\n%s", printed)
	}

	org := s.does("org", "edit", "acme", "--name", "Acme Group", "--require-second-factor", "--platform-mode")
	if org["name"] != "Acme Group" || org["require_second_factor"] != true || org["platform_mode"] != true {
		t.Errorf("organization %v", org)
	}
	org = s.does("org", "edit", "acme", "--no-require-second-factor")
	if org["name"] != "Acme Group" || org["require_second_factor"] != false || org["platform_mode"] != true {
		t.Errorf("organization %v", org)
	}
}

func TestAdminAuditFilters(t *testing.T) {
	t.Parallel()
	s := migrated(t)
	s.mustRun("org", "create", "acme")
	made := s.does("user", "create", "ada@example.com", "--org", "acme")
	s.mustRun("user", "set-permissions", "acme", "ada@example.com", "lists.view")
	count := func(want int, filters ...string) {
		t.Helper()
		events := s.does(append([]string{"audit", "list", "acme"}, filters...)...)["events"].([]any)
		if len(events) != want {
			t.Errorf("%v: %d events, want %d: %v", filters, len(events), want, events)
		}
	}
	count(3)
	count(1, "--action", "member.permissions_updated")
	count(0, "--action", "member.permissions_updated", "--actor", "ada@example.com")
	count(0, "--actor", made["id"].(string))
	count(3, "--actor", "operator", "--since", "1h")
	count(3, "--since", "2001-02-03")
	count(0, "--since", "2101-02-03T04:05:06Z")
	s.refuses("--since", "audit", "list", "acme", "--since", "yesterday")
	s.refuses("no person", "audit", "list", "acme", "--actor", "eve@example.com")
}

// TestLinksHaveTheAddressesOfTheServer checks that the links of commands have the addresses
// of a server on other ports than the default ones, unless a flag names another.
func TestLinksHaveTheAddressesOfTheServer(t *testing.T) {
	t.Parallel()
	eachWithServer(t, func(t *testing.T, s shell, _ *process, port int) {
		s.mustRun("org", "create", "acme")
		app := fmt.Sprintf("http://localhost:%d/join?token=", port+1)
		if printed := s.mustRun("user", "invite", "acme", "ada@example.com"); !strings.Contains(printed, app) {
			t.Errorf("want %s:\n%s", app, printed)
		}
		if printed := s.mustRun("user", "invite", "acme", "ada@example.com", "--auth-url", "https://auth.example.com"); !strings.Contains(printed, "https://auth.example.com/join?token=") {
			t.Errorf("with a flag:\n%s", printed)
		}
		ingest := fmt.Sprintf("http://localhost:%d/ingest/ses/", port)
		if printed := s.mustRun("account", "connect", "acme", "--provider", "simulator"); !strings.Contains(printed, ingest) {
			t.Errorf("want %s:\n%s", ingest, printed)
		}
	})
}
