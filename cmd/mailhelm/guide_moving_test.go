package main

import (
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// TestGuideOfMoving moves an organization by the commands of the guide from an installation with a
// running server to another one, on the other database. Every page of the API must answer the same
// there, with the same key, the received mail must be there, and the source must refuse the key.
func TestGuideOfMoving(t *testing.T) {
	t.Parallel()
	enginetest.OnceEngine(t, func(t *testing.T, postgres bool) {
		from, to := newBackup(t, postgres), newBackup(t, !postgres)
		g := openGuide(t, "moving.md")
		from.start()
		to.start()
		from.fill()
		from.s.does("user", "create", "ada@example.com", "--org", "acme", "--role", "owner")
		from.fillAudience()
		from.awaitContactList()
		pages := []string{
			"/v1/contacts?limit=10", "/v1/contacts/kim@example.com", "/v1/contact-list", "/v1/lists", "/v1/attributes", "/v1/topics", "/v1/segments",
			"/v1/templates", "/v1/activities", "/v1/activity-properties", "/v1/workflows", "/v1/tags", "/v1/inboxes", "/v1/channels", "/v1/identities", "/v1/broadcasts", "/v1/assets", "/v1/undeliverable", "/v1/messages",
			"/v1/inbound/messages", "/v1/inbound/domains", "/v1/domain-auth/domains", "/v1/verified-senders",
		}
		before := from.pages(pages)

		at := func(b *backup) {
			g.folder = b.folder
			g.replace = strings.NewReplacer("/etc/mailhelm/mailhelm.toml", filepath.Join(b.folder, "etc/mailhelm.toml"), "/var/backups", filepath.Join(b.folder, "var"))
		}
		at(from)
		g.section("Export it")
		g.run("")
		g.run("")
		g.run("stopped here")
		if a := request(t, http.MethodGet, fmt.Sprintf("http://localhost:%d/v1/lists", from.port), from.key, ""); a.status != http.StatusUnauthorized || !strings.Contains(a.body, "was deleted") {
			t.Errorf("the source: %d %s", a.status, a.body)
		}
		if err := os.Rename(filepath.Join(from.folder, "var/acme"), filepath.Join(to.folder, "var/acme")); err != nil {
			t.Fatal(err)
		}
		at(to)
		g.section("Import it")
		g.run("imported")

		to.key, to.poll = from.key, from.poll
		for path, want := range before {
			if got := to.pages([]string{path})[path]; got != want {
				t.Errorf("%s answers\n%s\nat the source\n%s", path, got, want)
			}
		}
		to.checkMail()
		to.call(http.MethodPost, "/v1/contacts", `{"email":"new@example.com"}`, http.StatusCreated)
		g.section("After the import")
		g.run("password")
		g.run("")
		g.end()
	})
}

// fillAudience stores contacts with an attribute, one of them on a list.
func (b *backup) fillAudience() {
	b.t.Helper()
	b.call(http.MethodPost, "/v1/attributes", `{"name":"plan","type":"string"}`, http.StatusCreated)
	b.call(http.MethodPost, "/v1/lists", `{"key":"news","name":"News"}`, http.StatusCreated)
	b.call(http.MethodPost, "/v1/contacts", `{"email":"kim@example.com","attributes":{"plan":"pro"},"lists":{"add":["news"]}}`, http.StatusCreated)
	b.call(http.MethodPost, "/v1/contacts", `{"email":"lee@example.com","attributes":{"plan":"free"}}`, http.StatusCreated)
}

// awaitContactList waits until the jobs that read the contact list of the sending account have run: that of the
// server's start, and that of the connected account. The next one comes a quarter of an hour later.
func (b *backup) awaitContactList() {
	b.t.Helper()
	db := b.openDatabase()
	defer db.Close() //nolint:errcheck // nothing is lost
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for began := time.Now(); ; <-again.C {
		var runs int
		if err := db.QueryRowContext(b.t.Context(), "SELECT count(*) FROM river_job WHERE kind = 'contact_list_sync' AND finalized_at IS NOT NULL").Scan(&runs); err != nil {
			b.t.Fatal(err)
		}
		if runs >= 2 {
			return
		}
		if time.Since(began) > startTimeout {
			b.t.Fatalf("the contact list was read %d times", runs)
		}
	}
}

// openDatabase opens the database of the server.
func (b *backup) openDatabase() *sql.DB {
	b.t.Helper()
	driver, source := "sqlite", filepath.Join(b.s.database.Dir, "mailhelm.db")
	if b.postgres {
		driver, source = "postgres", b.s.database.URL
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		b.t.Fatal(err)
	}
	return db
}

// changing matches what differs between two servers, or changes by itself.
var changing = regexp.MustCompile(`http://localhost:\d+|"(request_id|next_cursor|fetched_at|now)":"[^"]*"`)

// pages returns the answers of the API, without the addresses of the server.
func (b *backup) pages(paths []string) map[string]string {
	b.t.Helper()
	found := map[string]string{}
	for _, path := range paths {
		found[path] = changing.ReplaceAllString(b.call(http.MethodGet, path, "", http.StatusOK), "")
	}
	return found
}
