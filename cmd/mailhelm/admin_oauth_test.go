package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// eachWithServer runs a test once on SQLite and once on PostgreSQL, each time with a running
// server on a new installation. port is the port of the server's API.
func eachWithServer(t *testing.T, test func(t *testing.T, s shell, server *process, port int)) {
	t.Helper()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
		s := newShell(t, postgres)
		server, port := launchServe(t, nil, s.where...)
		test(t, s, server, port)
	})
}

// tokens posts a form to an endpoint of the authorization server, authenticated as the
// client. pairs are the names and values of the form. It returns the status and the JSON
// object of the response.
func tokens(t *testing.T, port int, path string, client map[string]any, pairs ...string) (int, map[string]any) {
	t.Helper()
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, fmt.Sprintf("http://localhost:%d%s", port, path), strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth(client["client_id"].(string), client["client_secret"].(string))
	a, err := ask(r)
	if err != nil {
		t.Fatal(err)
	}
	var response map[string]any
	if err := json.Unmarshal([]byte(a.body), &response); err != nil {
		t.Fatalf("%s: %d %v", path, a.status, err)
	}
	return a.status, response
}

func TestAdminEditsClients(t *testing.T) {
	t.Parallel()
	eachWithServer(t, func(t *testing.T, s shell, _ *process, port int) {
		s.mustRun("org", "create", "acme")
		client := s.does("client", "create", "acme", "--name", "Nightly", "--scopes", "api.lists.view")
		id := client["client_id"].(string)
		token := tokenFor(t, port+1, client)
		edited := s.does("client", "edit", "acme", id, "--name", "Daily", "--scopes", "api.topics.view",
			"--redirect-uri", "https://a.example/1", "--redirect-uri", "https://a.example/2,3", "--refresh-lifetime", "never")
		if edited["name"] != "Daily" || fmt.Sprint(edited["scopes"]) != "[api.topics.view]" || edited["refresh_days"] != nil ||
			fmt.Sprint(edited["redirect_uris"]) != "[https://a.example/1 https://a.example/2,3]" {
			t.Errorf("edited %v", edited)
		}
		answers(t, fmt.Sprintf("http://localhost:%d/v1/lists", port), token, 403, "invalid_scope")
		if again := s.does("client", "edit", "acme", client["id"].(string)); fmt.Sprint(again) != fmt.Sprint(edited) {
			t.Errorf("an edit of nothing made %v", again)
		}
		s.refuses("https://", "client", "edit", "acme", id, "--redirect-uri", "http://a.example/")
		s.refuses("client list", "client", "edit", "acme", "oc_live_NOBODY", "--name", "x")

		rotated := s.does("client", "rotate-secret", "acme", id)
		if status, _ := tokens(t, port+1, "/oauth/token", client, "grant_type", "client_credentials"); status != 401 {
			t.Errorf("the old secret gets %d", status)
		}
		tokenFor(t, port+1, rotated)
		listed := s.mustRun("client", "list", "acme", "--json") + s.mustRun("audit", "list", "acme")
		if strings.Contains(listed, rotated["client_secret"].(string)) || !strings.Contains(listed, "oauth_client.secret_rotated") {
			t.Errorf("listed:\n%s", listed)
		}
		public := s.does("client", "create", "acme", "--name", "x", "--scopes", "read", "--public", "--redirect-uri", "https://a.example/")
		s.refuses("public", "client", "rotate-secret", "acme", public["client_id"].(string))
	})
}

// grant stores a person's consent to a client, as the consent page does, and redeems an
// authorization code. It returns the id of the grant and the token response.
func (s shell) grant(port int, org string, client map[string]any) (string, map[string]any) {
	s.t.Helper()
	db, err := storage.Open(s.t.Context(), s.database)
	if err != nil {
		s.t.Fatal(err)
	}
	now, code := time.Now(), access.MintAuthorizationCode()
	user := access.User{ID: core.NewID(), Email: "ada@example.com", Name: "Ada", CreatedAt: now}
	allowed := access.Grant{
		ID: core.NewID(), OrgID: org, UserID: user.ID, ClientID: client["client_id"].(string), Resource: access.API,
		Scopes: core.NewScopes("api.lists.view"), CreatedAt: now,
	}
	const redirect, verifier = "https://a.example/", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk" // of RFC 7636 appendix B
	for _, err := range []error{
		db.Users().InsertUser(s.t.Context(), user),
		db.Members().AddMember(s.t.Context(), org, user.ID, string(members.Owner)),
		db.Grants().InsertGrant(s.t.Context(), allowed),
		db.Tokens().InsertCode(s.t.Context(), access.AuthorizationCode{
			Hash: code.Hash, GrantID: allowed.ID, OrgID: org, ClientID: allowed.ClientID, RedirectURI: redirect,
			Challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", ExpiresAt: now.Add(time.Minute),
		}),
		db.Close(),
	} {
		if err != nil {
			s.t.Fatal(err)
		}
	}
	status, response := tokens(s.t, port+1, "/oauth/token", client,
		"grant_type", "authorization_code", "code", code.Secret, "redirect_uri", redirect, "code_verifier", verifier)
	if status != http.StatusOK {
		s.t.Fatalf("%d %v", status, response)
	}
	return allowed.ID, response
}

func TestAdminRevokesAGrant(t *testing.T) {
	t.Parallel()
	eachWithServer(t, func(t *testing.T, s shell, _ *process, port int) {
		org := s.does("org", "create", "acme")
		s.mustRun("org", "create", "bolt")
		client := s.does("client", "create", "acme", "--name", "App", "--scopes", "read", "--redirect-uri", "https://a.example/")
		id, family := s.grant(port, org["id"].(string), client)
		lists, token := fmt.Sprintf("http://localhost:%d/v1/lists", port), family["access_token"].(string)
		answers(t, lists, token, 200, `"data"`)
		if _, response := tokens(t, port+1, "/oauth/introspect", client, "token", token); response["active"] != true {
			t.Errorf("introspection says %v", response)
		}
		if listed := s.mustRun("grant", "list", "acme"); !strings.Contains(listed, id) {
			t.Errorf("grants:\n%s", listed)
		}
		s.refuses("No such grant", "grant", "revoke", "bolt", id)
		if revoked := s.does("grant", "revoke", "acme", id); revoked["revoked_at"] == nil {
			t.Errorf("revoked %v", revoked)
		}
		// Introspection reads the database, so it reports the revocation at once. The API
		// caches callers, so the call of the function answers below waits until the API
		// refuses the token.
		if _, response := tokens(t, port+1, "/oauth/introspect", client, "token", token); response["active"] != false {
			t.Errorf("introspection says %v", response)
		}
		status, response := tokens(t, port+1, "/oauth/token", client, "grant_type", "refresh_token", "refresh_token", family["refresh_token"].(string))
		if status != 400 || response["error"] != "invalid_grant" {
			t.Errorf("a refresh gets %d %v", status, response)
		}
		answers(t, lists, token, 401, "invalid_key")
		if audit := s.mustRun("audit", "list", "acme"); !strings.Contains(audit, "oauth_grant.revoked") {
			t.Errorf("audit log:\n%s", audit)
		}
		if listed := s.mustRun("grant", "list", "acme"); strings.Contains(listed, id) {
			t.Errorf("grants:\n%s", listed)
		}
	})
}

// TestAdminRevokesOldSigningKeys checks that a running server refuses tokens of a revoked
// signing key after it has reloaded the keys. A request with a token of an unknown key
// makes the server reload them.
func TestAdminRevokesOldSigningKeys(t *testing.T) {
	t.Parallel()
	eachWithServer(t, func(t *testing.T, s shell, _ *process, port int) {
		org := s.does("org", "create", "acme")
		client := s.does("client", "create", "acme", "--name", "App", "--scopes", "read", "--redirect-uri", "https://a.example/")
		_, family := s.grant(port, org["id"].(string), client)
		lists, old := fmt.Sprintf("http://localhost:%d/v1/lists", port), family["access_token"].(string)
		answers(t, lists, old, 200, `"data"`)

		keys := s.does("keys", "rotate", "--revoke-old")["signing_keys"].([]any)
		next := keys[0].(map[string]any)
		if len(keys) != 1 || next["state"] != "signing" || next["retired_at"] != nil {
			t.Fatalf("keys %v", keys)
		}
		header := fmt.Sprintf(`{"alg":"ES256","typ":"at+jwt","kid":%q}`, next["id"])
		_, rest, _ := strings.Cut(old, ".")
		answers(t, lists, base64.RawURLEncoding.EncodeToString([]byte(header))+"."+rest, 401, "invalid_key")
		answers(t, lists, old, 401, "invalid_key")
		status, renewed := tokens(t, port+1, "/oauth/token", client, "grant_type", "refresh_token", "refresh_token", family["refresh_token"].(string))
		if status != 200 {
			t.Fatalf("a refresh gets %d %v", status, renewed)
		}
		answers(t, lists, renewed["access_token"].(string), 200, `"data"`)
	})
}

func TestAdminRotatesSigningKeys(t *testing.T) {
	t.Parallel()
	eachWithServer(t, func(t *testing.T, s shell, _ *process, port int) {
		s.mustRun("org", "create", "acme")
		client := s.does("client", "create", "acme", "--name", "App", "--scopes", "read")
		token, lists := tokenFor(t, port+1, client), fmt.Sprintf("http://localhost:%d/v1/lists", port)
		states := func(object map[string]any) string {
			var all []string
			for _, key := range object["signing_keys"].([]any) {
				all = append(all, key.(map[string]any)["state"].(string))
			}
			return strings.Join(all, " ")
		}
		for _, c := range []struct {
			args []string
			want string
		}{
			{[]string{"keys", "list"}, "signing"},
			{[]string{"keys", "rotate"}, "waiting signing"},
			{[]string{"keys", "list"}, "waiting signing"},
			{[]string{"keys", "rotate", "--at-once"}, "signing retired retired"},
		} {
			if got := states(s.does(c.args...)); got != c.want {
				t.Errorf("%v: %s, want %s", c.args, got, c.want)
			}
		}
		s.mustRun("keys", "rotate")
		s.refuses("under way", "keys", "rotate")
		answers(t, lists, token, 200, `"data"`)
		answers(t, lists, tokenFor(t, port+1, client), 200, `"data"`)

		if s.database.URL != "" {
			other := shellOn(t, storage.Config{Dir: t.TempDir(), URL: s.database.URL})
			other.refuses("no master key", "keys", "rotate", "--at-once")
			environment := map[string]string{"MAILHELM_MASTER_KEY": strings.Repeat("0f", 32)}
			r := runWith(t, environment, append([]string{"admin", "keys", "rotate", "--at-once"}, other.where...)...)
			if r.status == cli.ExitOK || !strings.Contains(r.stderr, "master key") {
				t.Errorf("with another master key: status %d\n%s%s", r.status, r.stdout, r.stderr)
			}
		}
		if listed := s.mustRun("keys", "list", "--json"); strings.Contains(listed, "sealed") || strings.Count(listed, `"id"`) != 4 {
			t.Errorf("keys:\n%s", listed)
		}
	})
}
