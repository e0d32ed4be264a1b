package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// The names of the members in the JSON that the commands print. Scripts rely on them.
const (
	orgMembers     = "id name platform_mode rate_limit require_second_factor retention_days slug tier"
	userMembers    = "created_at email id name"
	inOrgMembers   = "created_at email id name org_id role"
	memberMembers  = "email org_id permissions role user_id"
	keyMembers     = "created_at environment expires_at id name org_id prefix revoked_at scopes state"
	clientMembers  = "client_id created_at environment id name org_id public redirect_uris refresh_days revoked_at scopes"
	grantMembers   = "client_id created_at expires_at id org_id revoked_at scopes user_id"
	signingMembers = "algorithm created_at good_until id retired_at state"
	accountMembers = "access_key_id account_id created_at endpoint external_id has_ingest_key has_secret identities ingest_address latest_template_version max_24_hour_send max_send_rate " +
		"org_id provider region role_arn template_version topic_arn updated_at"
	webhookMembers   = "created_at description disabled_at enabled events failing_since id old_secret_until org_id url"
	deliveryMembers  = "attempts created_at endpoint_id event id message_id next_attempt_at problem state status test"
	retentionMembers = "applies_from default_days deleted days due is_set kind max_days min_days oldest_at ran_at rows"
	auditMembers     = "action actor_id actor_kind detail id occurred_at request_id subject_id surface"
)

// jsonCommand is a command to run with --json. The field members has the member names that
// its JSON output must have, separated by blanks. If the field list is not "", the output
// must have only one member, which is named by list and is an array. Each element of the
// array must then have the names in members.
type jsonCommand struct {
	command, list, members string
	arguments              []string
}

// memberNames returns the sorted member names of a JSON object, separated by blanks.
func memberNames(object map[string]any) string {
	return strings.Join(slices.Sorted(maps.Keys(object)), " ")
}

func sorted(names string) string {
	return strings.Join(slices.Sorted(strings.FieldsSeq(names)), " ")
}

// run runs the command with --json and checks the members of its output. It returns the
// printed object, or the first element if the output is a list.
func (c jsonCommand) run(s shell) map[string]any {
	s.t.Helper()
	c.members = sorted(c.members)
	object := s.does(append(strings.Fields(c.command), c.arguments...)...)
	if c.list == "" {
		if got := memberNames(object); got != c.members {
			s.t.Errorf("%s prints %s, want %s", c.command, got, c.members)
		}
		return object
	}
	all, _ := object[c.list].([]any)
	if len(all) == 0 || memberNames(object) != c.list {
		s.t.Fatalf("%s prints %v, want %s with an element", c.command, object, c.list)
	}
	for _, one := range all {
		if got := memberNames(one.(map[string]any)); got != c.members {
			s.t.Errorf("%s lists %s, want %s", c.command, got, c.members)
		}
	}
	return all[0].(map[string]any)
}

// administered runs every command of `mailhelm admin` with --json, checks its output, and
// returns the names of the commands.
func administered(t *testing.T, s shell, port int) []string {
	t.Helper()
	var ran []string
	run := func(command, list, members string, arguments ...string) map[string]any {
		t.Helper()
		ran = append(ran, command)
		return jsonCommand{command, list, members, arguments}.run(s)
	}
	text := func(object map[string]any, member string) string { return fmt.Sprint(object[member]) }

	org := text(run("org create", "", orgMembers, "acme"), "id")
	run("org list", "organizations", orgMembers)
	run("org edit", "", orgMembers, "acme", "--name", "Acme Group")
	run("org set-limit", "", orgMembers, "acme", "600")
	run("org stop-mail", "", "mail org_id", "acme")
	run("org disable-inboxes", "", "inboxes org_id", "acme")
	run("org enable-inboxes", "", "inboxes org_id", "acme")
	run("org allow-mail", "", "mail org_id", "acme")
	run("user create", "", inOrgMembers+" password", "eve@example.com", "--org", "acme", "--role", "owner")
	jsonCommand{"user create", "", userMembers + " password", []string{"bob@example.com"}}.run(s)
	run("user add-to-org", "", inOrgMembers, "acme", "bob@example.com")
	run("user list", "users", inOrgMembers, "acme")
	s.mustRun("user", "set-role", "acme", "bob@example.com", "owner")
	run("user set-role", "", memberMembers, "acme", "bob@example.com", "member")
	run("user set-permissions", "", memberMembers, "acme", "bob@example.com", "lists.view")
	run("user set-password", "", userMembers+" password", "bob@example.com")
	run("user reset-second-factor", "", userMembers, "bob@example.com")
	run("user remove-from-org", "", "org_id removed user_id", "acme", "bob@example.com")
	run("user invite", "", "email expires_at id link org_id permissions role", "acme", "bob@example.com")

	key := text(run("key create", "", keyMembers+" secret", "acme", "--name", "CI", "--scopes", "read"), "id")
	run("key list", "keys", keyMembers, "acme")
	run("key edit-scopes", "", keyMembers, "acme", key, "--scopes", "api.lists.view")
	next := text(run("key rotate", "", keyMembers+" secret", "acme", key), "id")
	run("key revoke", "", keyMembers, "acme", next)

	client := run("client create", "", clientMembers+" client_secret",
		"acme", "--name", "App", "--scopes", "read", "--redirect-uri", "https://a.example/")
	run("client list", "clients", clientMembers, "acme")
	run("client edit", "", clientMembers, "acme", text(client, "id"), "--refresh-lifetime", "30")
	allowed, _ := s.grant(port, org, client)
	run("grant list", "grants", grantMembers, "acme")
	run("grant revoke", "", grantMembers, "acme", allowed)
	run("client rotate-secret", "", clientMembers+" client_secret", "acme", text(client, "id"))
	run("client revoke", "", clientMembers, "acme", text(client, "id"))
	run("client block", "", "blocked client_id org_id", "acme", "https://agent.example.com/client.json")
	run("client blocked", "blocked_clients", "blocked_at client_id", "acme")
	run("client unblock", "", "blocked client_id org_id", "acme", "https://agent.example.com/client.json")
	run("keys list", "signing_keys", signingMembers)
	run("keys rotate", "signing_keys", signingMembers)
	jsonCommand{"keys rotate", "signing_keys", signingMembers, []string{"--revoke-old"}}.run(s)
	run("account connect", "", accountMembers+" ingest_key", "acme", "--provider", "simulator", "--new-ingest-key")
	run("account show", "", accountMembers, "acme")
	run("account template-version", "", accountMembers, "acme", "13")
	seedAccount(t, s, org)
	run("account verify", "", "findings org_id status", "acme")
	run("account disconnect", "", "connected org_id", "acme")
	s.askForProduction(org)
	run("production deny", "", "org_id status", "acme")
	administeredHook(run)
	administeredMail(s, org, run)
	administeredPersons(s, run)
	run("log-level", "", "level until", "debug", "--for", "1m")
	newKey := filepath.Join(t.TempDir(), "new.key")
	run("master-key show", "", "columns configured current rotating_since")
	run("master-key rotate", "", "columns configured current rotating_since", "--new-key-file", newKey, "--stopped")
	run("master-key retire", "", "columns configured current rotating_since", "--master-key-file", newKey, "--now", "--lose-unreadable")
	run("audit list", "events", auditMembers, "acme")
	return ran
}

// administeredHook runs the commands about a webhook of the organization acme.
func administeredHook(run func(command, list, members string, arguments ...string) map[string]any) {
	text := func(object map[string]any, member string) string { return fmt.Sprint(object[member]) }
	hook := text(run("webhook create", "", webhookMembers+" secret", "acme", "--url", "https://127.0.0.1/hook", "--events", "bounced"), "id")
	run("webhook list", "webhooks", webhookMembers, "acme")
	run("webhook update", "", webhookMembers, "acme", hook, "--description", "CRM")
	run("webhook rotate", "", webhookMembers+" secret", "acme", hook)
	delivery := text(run("webhook test", "", deliveryMembers, "acme", hook), "id")
	run("webhook deliveries", "deliveries", deliveryMembers, "acme", hook)
	run("webhook resend", "", deliveryMembers, "acme", hook, delivery)
	run("webhook delete", "", "deleted", "acme", hook)
}

// administeredPersons runs the commands that export, disable and delete people and organizations,
// and those about retention.
func administeredPersons(s shell, run func(command, list, members string, arguments ...string) map[string]any) {
	s.t.Helper()
	folder := s.t.TempDir()
	const closed = "api_keys api_keys_revoked email grants_revoked id last_owner_of sessions_ended"
	run("user disable", "", closed+" disabled_at", "bob@example.com")
	run("user enable", "", "disabled_at email id", "bob@example.com")
	run("user delete", "", closed+" tables", "bob@example.com")
	writeContact(s, "erin@example.com,true\n")
	run("person export", "", "files org_id rows", "acme", "erin@example.com", "--output", filepath.Join(folder, "erin"))
	run("person erase", "", "account_contact account_suppressed dry_run org_id refuses tables", "acme", "erin@example.com", "--confirm", "erin@example.com")
	run("person allow", "", "allowed org_id", "acme", "erin@example.com")
	run("retention show", "kinds", retentionMembers, "acme")
	run("retention set", "", retentionMembers, "acme", "audit_log", "730")
	s.mustRun("org", "create", "closing")
	run("org delete", "", "deleted_at erase_at export exported id slug", "closing", "--yes", "--export", filepath.Join(folder, "closing.zip"))
	run("org restore", "", "deleted_at erase_at id slug", "closing")
}

// writeContact imports a contact of the organization acme from a file with a row, of an address
// and whether it opted out of all mail.
func writeContact(s shell, row string) {
	s.t.Helper()
	file := filepath.Join(s.t.TempDir(), "people.csv")
	if err := os.WriteFile(file, []byte("email,unsubscribe_all\n"+row), 0o600); err != nil {
		s.t.Fatal(err)
	}
	if sum, r := importContacts(s.t, s, file, "--org", "acme"); sum["created"] != 1.0 {
		s.t.Fatalf("%v %s", sum, r.stderr)
	}
}

// administeredMail runs the commands about received mail of the organization acme.
func administeredMail(s shell, org string, run func(command, list, members string, arguments ...string) map[string]any) {
	s.t.Helper()
	run("org mail-storage show", "", "kind org_id", "acme")
	run("org mail-storage set", "", "kind org_id", "acme", "--files")
	run("org mail-storage test", "", "findings ok org_id", "acme")
	message := s.receiveMail(org, "in.example.com")
	run("received resend", "", "resent", "acme", message)
	run("received replay", "", "resent", "acme", "in.example.com", "--from", "2026-03-01T12:00:00Z", "--to", "2026-03-01T13:00:00Z")
}

// TestEveryAdminCommandSpeaksJSON checks that every admin command with --json prints one
// object with fixed members. The audit log must then hold every change, with the operator
// as actor and the changed values. On SQLite the test starts a process for each command;
// on PostgreSQL it runs the commands in its own process.
func TestEveryAdminCommandSpeaksJSON(t *testing.T) {
	t.Parallel()
	eachWithServer(t, func(t *testing.T, s shell, _ *process, port int) {
		s.processes = s.database.URL == ""
		ran := administered(t, s, port)
		for _, command := range adminCommands(t) {
			if !slices.Contains(ran, command) {
				t.Errorf("nothing shows what admin %s --json prints", command)
			}
		}
		var log struct {
			Events []struct {
				Action, ID string
				ActorKind  string          `json:"actor_kind"`
				ActorID    string          `json:"actor_id"`
				Detail     json.RawMessage `json:"detail"`
			} `json:"events"`
		}
		if err := json.Unmarshal([]byte(s.mustRun("audit", "list", "acme", "--json")), &log); err != nil {
			t.Fatal(err)
		}
		var actions []string
		details := map[string]string{}
		for _, e := range slices.Backward(log.Events) {
			if e.ActorKind != "operator" || e.ActorID != "operator" {
				t.Errorf("%s by %s %s", e.Action, e.ActorKind, e.ActorID)
			}
			actions = append(actions, e.Action)
			details[e.Action] = string(e.Detail)
		}
		want := "org.created org.settings_updated org.limit_set mail.stopped inboxes.disabled inboxes.enabled mail.allowed member.added member.added member.role_updated member.role_updated member.permissions_updated " +
			"user.password_set user.second_factors_reset member.removed member.invited " +
			"api_key.created api_key.scopes_updated api_key.rotated api_key.rotated api_key.revoked " +
			"oauth_client.created oauth_client.updated oauth_grant.revoked oauth_client.secret_rotated oauth_client.revoked " +
			"oauth_client.blocked oauth_client.unblocked " +
			"account.connected account.ingest_key_created account.template_version_set account.disconnected production_access.denied " +
			"webhook.created webhook.edited webhook.secret_rotated webhook.tested webhook.resent webhook.deleted " +
			"inbound_message.resent inbound_messages.resent person.exported person.erased person.allowed org.retention_updated"
		if got := strings.Join(actions, " "); got != want {
			t.Errorf("the log holds\n%s, want\n%s", got, want)
		}
		for action, want := range map[string]string{
			"api_key.scopes_updated":       `"added": [], "removed": ["api.account.view"`,
			"member.permissions_updated":   `"added": ["lists.view"], "removed": []`,
			"org.settings_updated":         `"before": "acme", "after": "Acme Group"`,
			"account.template_version_set": `"template_version": 13`,
			"oauth_client.blocked":         `"client_id": "https://agent.example.com/client.json"`,
		} {
			flat := func(s string) string { return strings.Join(strings.Fields(strings.ReplaceAll(s, ":", ": ")), "") }
			if !strings.Contains(flat(details[action]), flat(want)) {
				t.Errorf("%s has %s, want %s", action, details[action], want)
			}
		}
	})
}

// adminCommands returns the names of all commands under `mailhelm admin`, such as "org
// create" and "org mail-storage show".
func adminCommands(t *testing.T) []string {
	t.Helper()
	parser, err := kong.New(&commands{})
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, leaf := range parser.Model.Leaves(true) {
		if path := strings.TrimPrefix(leaf.Path(), "admin "); path != leaf.Path() {
			command, _, _ := strings.Cut(path, " <") // its arguments follow
			found = append(found, command)
		}
	}
	if len(found) < 25 {
		t.Fatalf("only %v", found)
	}
	return found
}
