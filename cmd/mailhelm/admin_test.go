package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
)

// applyTimeout is the longest time after which a server must apply a change that another
// process made. It is the documented five seconds, plus one second for the request itself.
const applyTimeout = 6 * time.Second

// answers repeats a GET request until the response has the given status and its body
// contains the given text. The test fails if this takes more than six seconds (the constant
// applyTimeout).
func answers(t *testing.T, address, bearer string, status int, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), applyTimeout)
	defer cancel()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		a := request(t, http.MethodGet, address, bearer, "")
		if a.status == status && strings.Contains(a.body, text) {
			return
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			t.Fatalf("after %s still %d %s, want %d with %q", applyTimeout, a.status, a.body, status, text)
		}
	}
}

func TestAdminBesideARunningServer(t *testing.T) {
	t.Parallel()
	eachWithServer(t, func(t *testing.T, s shell, server *process, port int) {
		s = s.inProcesses()
		api := fmt.Sprintf("http://localhost:%d/v1/", port)
		org := s.does("org", "create", "acme", "--name", "Acme Ltd")

		key := s.does("key", "create", "acme", "--name", "CI", "--scopes", "read")
		secret, name := key["secret"].(string), key["prefix"].(string)
		answers(t, api+"account", secret, 200, "sandbox")
		answers(t, api+"contacts", secret, 200, `"data"`)
		if key["state"] != "active" || key["org_id"] != org["id"] || !strings.HasPrefix(secret, name) {
			t.Errorf("key %v", key)
		}
		s.does("key", "edit-scopes", "acme", name, "--scopes", "api.lists.view")
		answers(t, api+"contacts", secret, 403, "invalid_scope")
		next := s.does("key", "rotate", org["id"].(string), name)
		answers(t, api+"lists", secret, 200, `"data"`)
		answers(t, api+"lists", next["secret"].(string), 200, `"data"`)
		s.does("key", "revoke", "acme", next["id"].(string))
		answers(t, api+"lists", next["secret"].(string), 401, "key_revoked")

		client := s.does("client", "create", "acme", "--name", "Nightly", "--scopes", "api.lists.view,api.topics.view")
		token := tokenFor(t, port+1, client)
		answers(t, api+"lists", token, 200, `"data"`)
		s.does("client", "revoke", "acme", client["client_id"].(string))
		answers(t, api+"lists", token, 401, "invalid_key")

		listed := s.mustRun("key", "list", "acme") + s.mustRun("client", "list", "acme") + s.mustRun("audit", "list", "acme") + server.stderr.String()
		for _, hidden := range []string{secret, next["secret"].(string), client["client_secret"].(string)} {
			if strings.Contains(listed, hidden) {
				t.Error("a secret is shown again")
			}
		}
		for _, text := range []string{name, "grace", "revoked", "Nightly", "api_key.rotated", "oauth_client.revoked", `{"added":[],"removed":["api.account.view"`} {
			if !strings.Contains(listed, text) {
				t.Errorf("the lists do not say %q:\n%s", text, listed)
			}
		}
	})
}

// tokenFor requests an access token by the client_credentials grant and returns it. port is
// the port of the authorization server.
func tokenFor(t *testing.T, port int, client map[string]any) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, fmt.Sprintf("http://localhost:%d/oauth/token", port),
		strings.NewReader("grant_type=client_credentials"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth(client["client_id"].(string), client["client_secret"].(string))
	a, err := ask(r)
	if err != nil {
		t.Fatal(err)
	}
	var issued struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(a.body), &issued); err != nil || issued.AccessToken == "" {
		t.Fatalf("no token: status %d, %v", a.status, err)
	}
	return issued.AccessToken
}

func TestAdminPeopleAndLimits(t *testing.T) {
	t.Parallel()
	s := migrated(t)
	s.mustRun("org", "create", "acme", "--tier", "team")
	s.mustRun("org", "create", "bolt")
	if o := s.does("org", "set-limit", "acme", "600"); o["rate_limit"] != float64(600) {
		t.Errorf("limit: %v", o)
	}
	if o := s.does("org", "set-limit", "acme", "none"); o["rate_limit"] != nil {
		t.Errorf("no limit: %v", o)
	}
	if orgs := s.does("org", "list")["organizations"].([]any); len(orgs) != 2 {
		t.Errorf("organizations %v", orgs)
	}

	made := s.does("user", "create", "ada@example.com", "--org", "acme", "--role", "owner")
	if password, _ := made["password"].(string); len(password) < 20 || made["role"] != "owner" {
		t.Errorf("made %v", made)
	}
	stdout, stderr, err := s.try("correct horse battery\n", "user", "create", "bob@example.com", "--password-stdin")
	if err != nil || strings.Contains(stdout+stderr, "correct horse") {
		t.Errorf("password from standard input: %v\n%s%s", err, stdout, stderr)
	}
	if _, stderr, err := s.try("short\n", "user", "create", "eve@example.com", "--password-stdin"); err == nil || strings.Contains(stderr, "short\n") {
		t.Errorf("a short password: %v\n%s", err, stderr)
	}
	s.mustRun("user", "add-to-org", "acme", "BOB@example.com")
	if users := s.mustRun("user", "list", "acme"); strings.Count(users, "\n") != 3 || !strings.Contains(users, "bob@example.com") {
		t.Errorf("users:\n%s", users)
	}
	for typed, says := range map[string]string{"password1": "most common", "bob-bob@EXAMPLE": "part of the address", "my mailhelm word": "name of this product"} {
		for _, command := range [][]string{{"user", "create", "eve@example.com"}, {"user", "set-password", "bob@example.com"}} {
			if _, stderr, err := s.try(typed+"\n", append(command, "--password-stdin")...); err == nil || !strings.Contains(stderr, says) {
				t.Errorf("%v with %q: %v\n%s", command, typed, err, stderr)
			}
		}
	}
	if set := s.does("user", "set-password", "BOB@example.com"); len(fmt.Sprint(set["password"])) < 20 || set["email"] != "bob@example.com" {
		t.Errorf("set %v", set)
	}
	if stdout, stderr, err := s.try("seven kettles on a hill\n", "user", "set-password", "bob@example.com", "--password-stdin"); err != nil || strings.Contains(stdout+stderr, "kettles") {
		t.Errorf("password from standard input: %v\n%s%s", err, stdout, stderr)
	}
	if log := s.mustRun("audit", "list", "acme", "--action", "user.password_set"); strings.Count(log, "user.password_set") != 2 {
		t.Errorf("audit log:\n%s", log)
	}
	s.refuses("no person", "user", "set-password", "nobody@example.com")
	s.mustRun("user", "reset-second-factor", "bob@example.com")
	if log := s.mustRun("audit", "list", "acme"); !strings.Contains(log, "user.second_factors_reset") {
		t.Errorf("audit log:\n%s", log)
	}
	s.refuses("no person", "user", "reset-second-factor", "nobody@example.com")
	s.mustRun("grant", "list", "acme")
	s.refuses("No such grant", "grant", "revoke", "acme", "0")
	s.refuses("member of this organization already", "user", "add-to-org", "acme", "bob@example.com")
	s.refuses("exists already", "user", "create", "Ada@example.com")
	s.refuses("exists already", "org", "create", "acme")
	s.refuses("lower-case", "org", "create", "Acme Ltd")
	s.refuses("org list", "key", "list", "nobody")
	s.refuses(`"api.everything"`, "key", "create", "acme", "--name", "x", "--scopes", "api.everything")
	s.refuses("https://", "client", "create", "acme", "--name", "x", "--scopes", "read", "--redirect-uri", "http://a.example/")
	s.refuses("--redirect-uri must not be empty for a public client", "client", "create", "acme", "--name", "x", "--scopes", "read", "--public")
	public := s.does("client", "create", "acme", "--name", "x", "--scopes", "all", "--public", "--redirect-uri", "https://a.example/?a,b", "--refresh-lifetime", "never")
	if _, has := public["client_secret"]; has || public["refresh_days"] != nil || fmt.Sprint(public["redirect_uris"]) != "[https://a.example/?a,b]" {
		t.Errorf("a public client: %v", public)
	}
}

func TestAdminStopsMail(t *testing.T) {
	t.Parallel()
	s := migrated(t)
	s.mustRun("org", "create", "acme")
	for range 2 { // each command may be repeated
		if o := s.does("org", "stop-mail", "acme"); o["mail"] != "stopped" {
			t.Errorf("stopped mail: %v", o)
		}
	}
	if o := s.does("org", "allow-mail", "acme"); o["mail"] != "allowed" {
		t.Errorf("allowed mail: %v", o)
	}
}

func TestAdminMakesNoInstallation(t *testing.T) {
	t.Parallel()
	s := newShell(t, false).inProcesses()
	s.refuses("no database", "org", "list")
	if _, err := os.Stat(s.database.Dir); !os.IsNotExist(err) {
		t.Errorf("the folder was made (%v)", err)
	}
}

// TestAdminReadsItsOwnFlagsFromTheCommandLineAlone checks that environment variables and
// the configuration file do not set the flags of admin commands. Otherwise MAILHELM_ROLE,
// which is for servers, would set the role of a new person.
func TestAdminReadsItsOwnFlagsFromTheCommandLineAlone(t *testing.T) {
	t.Parallel()
	s := migrated(t)
	environment := map[string]string{"MAILHELM_DATA": s.database.Dir, "MAILHELM_ROLE": "owner", "MAILHELM_NAME": "x", "MAILHELM_SCOPES": "all"}
	r := runWith(t, environment, "admin", "user", "create", "ada@example.com", "--json")
	if r.status != cli.ExitOK || strings.Contains(r.stdout, "owner") || !strings.Contains(r.stdout, `"name": "ada@example.com"`) {
		t.Errorf("status %d:\n%s%s", r.status, r.stdout, r.stderr)
	}
	if r := runWith(t, environment, "admin", "key", "create", "acme"); r.status != cli.ExitUsage {
		t.Errorf("a key without a name: status %d:\n%s%s", r.status, r.stdout, r.stderr)
	}
	if r := runWith(t, nil, "config", "--config", writeFile(t, `scopes = "all"`)); r.status != cli.ExitUsage {
		t.Errorf("a file with scopes: status %d:\n%s", r.status, r.stdout)
	}
	for _, group := range []string{"", "org", "user", "key", "client", "grant", "keys", "account", "audit"} {
		args := strings.Fields("admin " + group + " --help")
		if r := runWith(t, nil, args...); r.status != cli.ExitOK || !strings.Contains(r.stdout, "Examples:") {
			t.Errorf("%v: status %d:\n%s", args, r.status, r.stdout)
		}
	}
}
