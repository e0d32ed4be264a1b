package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// remembered is how long a server caches an authenticated caller if it receives no
// notification of a change.
const remembered = 5 * time.Second

// pair is two servers on one PostgreSQL database. Both use the public addresses of the
// first server. The organization acme has an OAuth client and an API key. The commands that
// created them had another data folder than the servers, as on another machine.
type pair struct {
	shell
	first       *process
	public      demoOutput // addresses and credentials, as the demo prints them
	apis        [2]string  // local address of the API of each server
	secondToken string     // URL of the token endpoint of the second server
}

func newPair(t *testing.T) *pair {
	t.Helper()
	return startPair(newShell(t, true))
}

// startPair starts two servers on the database of a shell.
func startPair(on shell) *pair {
	t := on.t
	t.Helper()
	p := &pair{shell: on}
	p.does("org", "create", "acme")
	client := p.does("client", "create", "acme", "--name", "Agent", "--scopes", "all")
	key := p.does("key", "create", "acme", "--name", "CI", "--scopes", "all")
	if _, err := os.Stat(config.Config{DataDir: p.database.Dir}.AccountFile()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the simulated account of the servers is in the data folder of the commands: %v", err)
	}
	p.where[1] = filepath.Join(enginetest.Folder(t), "servers")
	ports := [2]int{firstOfSixPorts(t), firstOfSixPorts(t)}
	local := func(port int) string { return fmt.Sprintf("http://localhost:%d", port) }
	p.public = demoOutput{
		"base_url": local(ports[0]), "auth_url": local(ports[0] + 1), "mcp_url": local(ports[0] + 2),
		"client_id": client["client_id"].(string), "client_secret": client["client_secret"].(string), "api_key": key["secret"].(string),
	}
	for i, port := range ports {
		server := launch(t, nil, append([]string{
			"serve", "--port", fmt.Sprint(port),
			"--base-url", p.public["base_url"], "--auth-url", p.public["auth_url"], "--app-url", p.public["auth_url"], "--mcp-url", p.public["mcp_url"],
		}, p.where...)...)
		server.awaits(`"msg":"ready"`)
		p.apis[i] = local(port)
		if i == 0 {
			p.first = server
		}
	}
	p.secondToken = local(ports[1]+1) + "/oauth/token"
	return p
}

// create creates a contact with an idempotency key through the server with this index, 0 or
// 1.
func (p *pair) create(server int, email, key string) (answer, error) {
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.apis[server]+"/v1/contacts", strings.NewReader(fmt.Sprintf(`{"email":%q}`, email)))
	if err != nil {
		return answer{}, err
	}
	r.Header = http.Header{"Authorization": {"Bearer " + p.public["api_key"]}, "Content-Type": {"application/json"}, "Idempotency-Key": {key}}
	return ask(r)
}

// TestASecondServerTakesOverAKeyOfAKilledOne kills one of two servers during a call with an
// idempotency key. Before the kill, the other server must answer a retry with 409, because
// the call is still running. After the kill, the first retry at the other server must
// succeed. The contact must be created once.
func TestASecondServerTakesOverAKeyOfAKilledOne(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	db, err := sql.Open("postgres", p.database.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // nothing is written
	if made, err := p.create(0, "first@example.com", "first"); err != nil || made.status != http.StatusCreated {
		t.Fatalf("before the kill: %v %+v", err, made)
	}
	held, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := held.ExecContext(t.Context(), "LOCK TABLE contacts IN SHARE MODE"); err != nil {
		t.Fatal(err)
	}
	const email, key = "taken.over@example.com", "taken-over"
	cut := make(chan error, 1)
	go func() {
		got, err := p.create(0, email, key)
		if err == nil {
			err = fmt.Errorf("the killed server answered %d %s", got.status, got.body)
		} else {
			err = nil
		}
		cut <- err
	}()
	for reserved := 0; reserved == 0; {
		if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM replay_records WHERE NOT done").Scan(&reserved); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := p.create(1, email, key); err != nil || got.status != http.StatusConflict || got.header.Get("Retry-After") != "1" {
		t.Errorf("while the first server lives: %v %d %s", err, got.status, got.body)
	}

	p.first.signal(syscall.SIGKILL)
	killed := time.Now()
	if !p.first.waits() {
		t.Fatal("the server outlives SIGKILL")
	}
	if err := held.Rollback(); err != nil {
		t.Fatal(err)
	}
	got, err := p.create(1, email, key)
	t.Logf("the first retry was answered %v after the kill", time.Since(killed).Round(time.Millisecond))
	if err != nil || got.status != http.StatusCreated {
		t.Errorf("first retry at the second server: %v %d %s", err, got.status, got.body)
	}
	if again, err := p.create(1, email, key); err != nil || again.status != http.StatusCreated || again.body != got.body {
		t.Errorf("the same call once more: %v %d %s", err, again.status, again.body)
	}
	if err := <-cut; err != nil {
		t.Error(err)
	}
	if n := strings.Count(p.mustRun("audit", "list", "acme", "--json"), `"contacts_create"`); n != 2 {
		t.Errorf("the audit log has %d lines of contacts created, want 2", n)
	}
}

// TestARevocationReachesASecondServer revokes an access token at one of two servers, and an
// API key by a command. The other server has both credentials in its cache. It must refuse
// them before their cache entries expire.
func TestARevocationReachesASecondServer(t *testing.T) {
	t.Parallel()
	newPair(t).revoke()
}

// TestTwoServersBehindPgBouncer does the same, and creates a contact, with PgBouncer between the
// processes and PostgreSQL. It has the configuration that the documentation shows, with two
// connections to PostgreSQL. Two servers and the commands have 34 to PgBouncer.
func TestTwoServersBehindPgBouncer(t *testing.T) {
	t.Parallel()
	direct := enginetest.PostgresURL(t)
	database := storage.Config{Dir: filepath.Join(enginetest.Folder(t), "data"), DirectURL: direct}
	database.URL = documentedPgBouncer(t, direct)
	p := startPair(shellOn(t, database))
	if made, err := p.create(0, "first@example.com", "first"); err != nil || made.status != http.StatusCreated {
		t.Errorf("a contact: %v %+v", err, made)
	}
	p.revoke()
	if report := p.mustDoctor(); report["database pooler"] != "warn" { // jit is on
		t.Errorf("doctor: %v", report)
	}
}

// documentedPgBouncer starts PgBouncer with the configuration of the documentation, for the
// database with the address direct. It returns the address through PgBouncer.
func documentedPgBouncer(t *testing.T, direct string) string {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("..", "..", "rest", "docs", "guides", "proxies", "pgbouncer.ini"))
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(direct)
	if err != nil {
		t.Fatal(err)
	}
	users := filepath.Join(enginetest.Folder(t), "userlist.txt")
	if err := os.WriteFile(users, []byte(`"postgres" "password-of-pgbouncer"`), 0o644); err != nil {
		t.Fatal(err)
	}
	bouncer := enginetest.PgBouncer(t, direct, enginetest.PgBouncerConfig{Text: func(port, postgres string) string {
		text := string(source)
		for _, change := range [][2]string{
			{"host=10.0.0.20 port=5432 dbname=mailhelm", "host=" + postgres + " dbname=" + strings.TrimPrefix(target.Path, "/")},
			{"listen_addr = 10.0.0.20", "listen_addr = 127.0.0.1"},
			{"6432", port},
			{"/etc/pgbouncer/userlist.txt", users},
			{"default_pool_size = 30", "default_pool_size = 2"},
		} {
			if !strings.Contains(text, change[0]) {
				t.Fatalf("the documented configuration has no %q", change[0])
			}
			text = strings.Replace(text, change[0], change[1], 1)
		}
		return text
	}})
	address, err := url.Parse(bouncer.URL(direct))
	if err != nil {
		t.Fatal(err)
	}
	address.User, address.Path = url.UserPassword("postgres", "password-of-pgbouncer"), "/mailhelm"
	return address.String()
}

// mustDoctor returns the status of each check of `mailhelm doctor` on the installation.
func (p *pair) mustDoctor() map[string]string {
	p.t.Helper()
	r := runWith(p.t, nil, append([]string{"doctor", "--json"}, p.where...)...)
	var report struct {
		Checks []struct{ Name, Status string }
	}
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil {
		p.t.Fatalf("%v: %s%s", err, r.stdout, r.stderr)
	}
	all := map[string]string{}
	for _, c := range report.Checks {
		all[c.Name] = c.Status
	}
	return all
}

// revoke revokes three tokens and an API key, each of which the second server must then refuse.
func (p *pair) revoke() {
	t := p.t
	t.Helper()
	for round := range 3 {
		token := tokenFrom(t, p.public, p.public["client_id"], p.public["client_secret"], p.public["base_url"])
		p.refusedAtOnce(fmt.Sprintf("token %d", round), token, func() {
			form := url.Values{"token": {token}}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.public["auth_url"]+"/oauth/revoke", strings.NewReader(form.Encode()))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.SetBasicAuth(p.public["client_id"], p.public["client_secret"])
			if got, err := ask(r); err != nil || got.status != http.StatusOK {
				t.Fatalf("revocation: %v %d %s", err, got.status, got.body)
			}
		})
	}
	key := p.does("key", "create", "acme", "--name", "Other", "--scopes", "read")
	p.refusedAtOnce("API key", key["secret"].(string), func() { p.does("key", "revoke", "acme", key["id"].(string)) })
}

// refusedAtOnce sends a credential to the second server, which caches it, then calls
// revoke. It waits until the second server refuses the credential. It fails the test if the
// cache entry expires first.
func (p *pair) refusedAtOnce(what, bearer string, revoke func()) {
	p.t.Helper()
	address := p.apis[1] + "/v1/_scopes"
	known := time.Now()
	if got := request(p.t, http.MethodGet, address, bearer, ""); got.status != http.StatusOK {
		p.t.Fatalf("%s before it is revoked: %d %s", what, got.status, got.body)
	}
	revoke()
	revoked := time.Now()
	for request(p.t, http.MethodGet, address, bearer, "").status == http.StatusOK {
		continue // the loop ends at the latest when the second server's cache entry for the credential expires
	}
	if time.Since(known) >= remembered {
		p.t.Errorf("%s: the second server was not notified within %v", what, remembered)
	}
	p.t.Logf("%s: refused by the second server %v after it was revoked", what, time.Since(revoked).Round(time.Microsecond))
}
