package server

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	sqlite "modernc.org/sqlite"
)

// TestTheDiskIsFull checks calls while the disk of the database is full. Writes must fail
// with 503, and reads must succeed. The readiness check must name the cause until the disk
// has space again.
func TestTheDiskIsFull(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		s := newFaultScene(t, product.Options{})
		checkFullDisk(t, s, func(full bool) { fillSQLite(t, s.p, full) })
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		address := enginetest.PostgresURL(t)
		fill := fillPostgres(t, address)
		checkFullDisk(t, newFaultScene(t, product.Options{Postgres: true, PostgresURL: address}), fill)
	})
}

func checkFullDisk(t *testing.T, s *faultScene, fill func(full bool)) {
	t.Helper()
	s.begin(t, "full")
	fill(true)
	var refused answer
	// writes succeed until the pages that the database file already has are full
	for n := 0; n < 1000 && refused.status != http.StatusServiceUnavailable; n++ {
		refused = s.do(t, call{operation: "lists_create", method: "POST", path: "/v1/lists", body: fmt.Sprintf(`{"name":"Fill %d ROUND","description":"%s"}`, n, strings.Repeat("d", 500))})
	}
	checkUnavailable(t, "a write", false, refused)
	s.checkReady(t, "disk")
	s.checkReady(t, "is full")
	checkUnavailable(t, "a tool that writes", true, s.do(t, databaseCalls[6].call))
	for _, c := range databaseCalls {
		if !c.writes {
			checkDone(t, c.name(), s.do(t, c.call))
		}
	}
	checkDone(t, "a token", s.askToken(t, s.p.Live))
	fill(false)
	s.checkReady(t, "")
	for _, c := range databaseCalls {
		checkDone(t, c.name()+", with room again", s.do(t, c.call))
	}
}

// fullDisks makes writes to SQLite database files fail as on a full disk, by a limit on the
// number of pages. files maps the path of a file to whether the limit applies.
var fullDisks = struct {
	mu    sync.Mutex
	files map[string]bool
	// receives the path of a file listed in files when a connection for writing to the file
	// opens
	writer chan string
}{files: map[string]bool{}, writer: make(chan string, 100)}

func init() {
	sqlite.RegisterConnectionHook(func(conn sqlite.ExecQuerierContext, name string) error {
		path, options, _ := strings.Cut(strings.TrimPrefix(name, "file://"), "?")
		fullDisks.mu.Lock()
		bounded, listed := fullDisks.files[path]
		fullDisks.mu.Unlock()
		if !listed || !strings.Contains(options, "_txlock=immediate") {
			return nil
		}
		most := "1073741823"
		if bounded {
			most = "1" // SQLite raises this limit to the present size, so the file cannot grow
		}
		_, err := conn.ExecContext(context.Background(), "PRAGMA max_page_count = "+most, []driver.NamedValue{})
		fullDisks.writer <- path
		return err
	})
}

// fillSQLite makes writes to the product's database fail as on a full disk. If bounded is
// false, it makes them succeed again.
func fillSQLite(t *testing.T, p *product.Product, bounded bool) {
	t.Helper()
	path := p.DataDir + "/mailhelm.db"
	fullDisks.mu.Lock()
	fullDisks.files[path] = bounded
	fullDisks.mu.Unlock()
	// Repeat until the write connection is opened again, because the limit changes only then.
	// GiveBack closes the connection, but not while a job uses it.
	for {
		if err := p.DB.GiveBack(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := p.DB.InTx(t.Context(), func(context.Context) error { return nil }); err != nil {
			t.Fatal(err)
		}
		select {
		case <-fullDisks.writer:
			return
		default:
		}
	}
}

// fillPostgres adds triggers to a migrated PostgreSQL database. The triggers can make
// inserts and updates fail, with the SQLSTATE and message of a full disk. The returned
// function turns the failure on and off.
func fillPostgres(t *testing.T, address string) (fill func(full bool)) {
	t.Helper()
	db, err := sql.Open("postgres", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	do := func(query string) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	do(`CREATE TABLE no_room (full_since bigint)`)
	do(`CREATE FUNCTION extend_file() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN
			IF EXISTS (SELECT 1 FROM no_room) THEN
				RAISE EXCEPTION 'could not extend file "base/16384/16385": No space left on device' USING ERRCODE = '53100', HINT = 'Check free disk space.';
			END IF;
			RETURN NULL;
		END $$`)
	do(`DO $$
		DECLARE one text;
		BEGIN
			FOR one IN SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename <> 'no_room' LOOP
				EXECUTE format('CREATE TRIGGER extend_file BEFORE INSERT OR UPDATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION extend_file()', one);
			END LOOP;
		END $$`)
	return func(full bool) {
		if full {
			do(`INSERT INTO no_room VALUES (1)`)
			return
		}
		do(`DELETE FROM no_room`)
	}
}

// TestAPageFailsForAFullDisk posts the form of a page while the database cannot write
// because its disk is full. The answer must be an error page with status 503 and
// Retry-After. The log must name the cause, and the page must not.
func TestAPageFailsForAFullDisk(t *testing.T) {
	t.Parallel()
	log := new(journal)
	address := enginetest.PostgresURL(t)
	fill := fillPostgres(t, address)
	p := product.Start(t, product.Options{Postgres: true, PostgresURL: address, Mail: true, Log: log})
	s := &faultScene{p: p}
	fill(true)
	form := url.Values{"email": {p.UserEmail}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.AppURL+"/login/forgotten", strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	got := do(s.p.HTTP, r)
	fill(false)
	if got.err != nil || got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") != "5" || !strings.Contains(got.body, "Something failed on our side") {
		t.Errorf("%v %d %v %s", got.err, got.status, got.header, got.body)
	}
	for _, word := range internals {
		if strings.Contains(got.body, word) {
			t.Errorf("the page tells %q: %s", word, got.body)
		}
	}
	for line := range strings.Lines(log.text()) {
		if strings.Contains(line, `"page failed"`) && strings.Contains(line, "/login/forgotten") && strings.Contains(line, "No space left") {
			return
		}
	}
	t.Error("the log does not name the cause of the page's failure")
}
