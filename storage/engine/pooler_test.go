package engine_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// pooled is a database behind a PgBouncer in transaction mode, with three server connections.
type pooled struct {
	bouncer     *enginetest.PgBouncerServer
	url, direct string
}

func newPooled(t *testing.T) pooled {
	t.Helper()
	direct := enginetest.PostgresURL(t)
	bouncer := enginetest.PgBouncer(t, direct, enginetest.PgBouncerConfig{Servers: 3})
	return pooled{bouncer, bouncer.URL(direct), direct}
}

// open opens the database as one server process with 16 connections does.
func (p pooled) open(t *testing.T) *database {
	t.Helper()
	return openDatabase(t, engine.Config{URL: p.url, DirectURL: p.direct, CallerWait: time.Minute})
}

// TestSessionsAreShared runs transactions and reads of two processes, 32 at a time, over three
// server connections. All take effect, no statement is prepared, and settings of one transaction
// reach no other.
func TestSessionsAreShared(t *testing.T) {
	t.Parallel()
	p := newPooled(t)
	dbs := []*database{p.open(t), p.open(t)}
	if limit := dbs[0].Reader().Stats().MaxOpenConnections; limit < 9 {
		t.Fatalf("the main pool has %d connections, want several times those of the pooler", limit)
	}
	const callers, rounds = 32, 6
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() {
			db := dbs[caller%len(dbs)]
			for round := range rounds {
				if err := mix(t.Context(), db, fmt.Sprintf("org-%d-%d", caller, round)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	if ids, err := dbs[0].Orgs().OrgIDs(t.Context()); err != nil || len(ids) != 2*callers*rounds {
		t.Errorf("%d organizations, %v, want %d", len(ids), err, 2*callers*rounds)
	}
	for _, db := range dbs {
		if n := db.Prepared(true) + db.Prepared(false); n != 0 {
			t.Errorf("%d statements are prepared", n)
		}
	}
	direct := openDatabase(t, engine.Config{URL: p.direct, MaxConns: 4})
	backends, err := engine.Rows(t.Context(), direct.DB, engine.Composed{Name: "backends", Text: `
		SELECT CAST(count(*) AS text) FROM pg_stat_activity WHERE datname = current_database() AND client_port = -1
		AND state = 'idle' AND query NOT LIKE '%pg_stat_activity%' AND pid <> pg_backend_pid()`}, scanText)
	if err != nil || len(backends) != 1 || backends[0] > "3" {
		t.Errorf("PostgreSQL has %v connections, %v, want at most 3", backends, err)
	}
}

// mix uses each way in which a store uses the database: transactions with a statement that is
// repeated, single statements, expensive reads and composed queries.
func mix(ctx context.Context, db *database, slug string) error {
	err := db.InTx(ctx, func(ctx context.Context) error {
		for i := range 2 {
			if err := db.Orgs().InsertOrg(ctx, core.Org{ID: core.NewID(), Name: "Acme", Slug: fmt.Sprintf("%s-%d", slug, i), Tier: "free"}); err != nil {
				return err
			}
		}
		return expectSettings(ctx, db, "off", "0")
	})
	if err != nil {
		return err
	}
	if _, err := db.Orgs().OrgBySlug(ctx, slug+"-1"); err != nil {
		return err
	}
	expensive := core.WithLane(ctx, core.ExpensiveReads)
	if _, err := db.Orgs().OrgIDs(expensive); err != nil {
		return err
	}
	// PostgreSQL's own defaults apply outside of transactions.
	return errors.Join(expectSettings(expensive, db, "off", "20s"), expectSettings(ctx, db, "on", "0"))
}

// expectSettings returns an error unless PostgreSQL has these values of jit and
// statement_timeout for a query with ctx.
func expectSettings(ctx context.Context, db *database, jit, timeout string) error {
	for _, once := range []bool{false, true} {
		got, err := engine.Rows(ctx, db.DB, engine.Composed{
			Name: "settings", Text: `SELECT current_setting('jit') || ' ' || current_setting('statement_timeout') || $1`, Args: []any{""}, AggregatesOnce: once,
		}, scanText)
		if once && !db.InTransaction(ctx) {
			jit = "off" // the query has a transaction
		}
		if err != nil || len(got) != 1 || got[0] != jit+" "+timeout {
			return fmt.Errorf("settings %q, %w, want %s %s", got, err, jit, timeout)
		}
	}
	return nil
}

func scanText(rows *sql.Rows) (string, error) {
	var text string
	err := rows.Scan(&text)
	return text, err
}

// heard is a listener that passes on messages.
type heard struct{ connected, messages chan string }

func (h heard) Connected()              { h.connected <- "" }
func (h heard) Notified(message string) { h.messages <- message }
func (h heard) Refused(err error)       { h.messages <- err.Error() }
func (h heard) Failed(err error)        { h.messages <- err.Error() }
func (h heard) Restored()               {}

// TestSessionsUseTheDirectURL checks what needs a session: migrations with their lock, and LISTEN.
// Jobs need none.
func TestSessionsUseTheDirectURL(t *testing.T) {
	t.Parallel()
	p := newPooled(t)
	p.direct, p.url = emptyDatabase(t, p.direct), ""
	p.url = p.bouncer.URL(p.direct)
	dbs := []*database{p.open(t), p.open(t)}
	var migrating sync.WaitGroup
	for _, db := range dbs {
		migrating.Go(func() {
			if err := db.Migrate(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	migrating.Wait()
	if n, err := dbs[0].MissingMigrations(t.Context()); err != nil || n != 0 {
		t.Fatalf("%d migrations are missing, %v", n, err)
	}

	h := heard{make(chan string, 1), make(chan string, 1)}
	listening, stop := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	ended.Go(func() { dbs[0].Listen(listening, "news", h) })
	defer ended.Wait()
	defer stop()
	<-h.connected
	must(t, dbs[1].InTx(t.Context(), func(ctx context.Context) error { return dbs[1].ExecText(ctx, "SELECT pg_notify('news', $1)", "hello") }))
	if got := <-h.messages; got != "hello" {
		t.Errorf("heard %q", got)
	}

	done := make(chan string, 20)
	for _, db := range dbs {
		queue, err := db.NewJobs(engine.JobsConfig{Poll: 20 * time.Millisecond})
		must(t, err)
		engine.AddWorker(queue, jobs.Worker[letter]{Work: func(_ context.Context, args letter) error {
			done <- args.To
			return nil
		}})
		must(t, queue.Start(t.Context()))
		defer func() { must(t, queue.Stop(context.Background())) }()
		for i := range 5 {
			must(t, queue.Enqueue(t.Context(), letter{To: fmt.Sprint(i)}))
		}
	}
	for range 10 {
		<-done
	}
}

// emptyDatabase creates a database without a schema on the server of the URL, and returns its
// URL. It is dropped when the test ends.
func emptyDatabase(t *testing.T, url string) string {
	t.Helper()
	admin, err := sql.Open("postgres", url)
	must(t, err)
	name := "mailhelm_empty_" + strings.ReplaceAll(core.NewID(), "-", "")
	_, err = admin.ExecContext(t.Context(), "CREATE DATABASE "+name)
	must(t, err)
	t.Cleanup(func() {
		_, err := admin.ExecContext(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)")
		must(t, errors.Join(err, admin.Close()))
	})
	path, query, _ := strings.Cut(url, "?")
	return path[:strings.LastIndex(path, "/")+1] + name + "?" + query
}

// TestPoolersAreDetected checks that the engine distinguishes a transaction pooler from a server and from a session
// pooler, and that a direct URL to another database is refused.
func TestPoolersAreDetected(t *testing.T) {
	t.Parallel()
	p := newPooled(t)
	sessions := enginetest.PgBouncer(t, p.direct, enginetest.PgBouncerConfig{Mode: "session", Servers: 16})
	for name, c := range map[string]struct {
		config        engine.Config
		keeps, direct bool
	}{
		"PostgreSQL":         {engine.Config{URL: p.direct}, true, true},
		"SQLite":             {engine.Config{Dir: t.TempDir()}, true, true},
		"session pooler":     {engine.Config{URL: sessions.URL(p.direct)}, true, true},
		"transaction pooler": {engine.Config{URL: p.url}, false, true},
		"with a direct URL":  {engine.Config{URL: p.url, DirectURL: p.direct}, false, true},
		"two poolers":        {engine.Config{URL: p.url, DirectURL: p.url}, false, false},
	} {
		c.config.MaxConns = 4
		db := openDatabase(t, c.config)
		keeps, err := db.KeepsSessions(t.Context())
		direct, errDirect := db.DirectKeepsSessions(t.Context())
		if keeps != c.keeps || direct != c.direct || err != nil || errDirect != nil {
			t.Errorf("%s: keeps sessions %t, %v; direct %t, %v", name, keeps, err, direct, errDirect)
		}
	}
	for name, c := range map[string]struct{ direct, says string }{
		"another database": {enginetest.PostgresURL(t), "another database"},
		"another kind":     {"mysql://u:hunter2@db/x", "postgres://"},
		"unreachable":      {"postgres://u:hunter2@127.0.0.1:1/x?sslmode=disable", "check that PostgreSQL runs"},
	} {
		_, err := engine.Open(t.Context(), engine.Config{URL: p.url, DirectURL: c.direct})
		if !isDirect(err) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := engine.Open(t.Context(), engine.Config{URL: p.url + "&search_path=x", DirectURL: p.direct}); err == nil || !strings.Contains(err.Error(), "ignore_startup_parameters") {
		t.Errorf("a parameter that the pooler refuses: %v", err)
	}
	if _, err := engine.Open(t.Context(), engine.Config{Dir: t.TempDir(), DirectURL: p.direct}); !isDirect(err) {
		t.Errorf("SQLite with a direct URL: %v", err)
	}
}

func isDirect(err error) bool {
	_, direct := errors.AsType[engine.DirectError](err)
	return direct
}

// TestEndedCallsFreeTheirServerConnection cancels expensive reads. PostgreSQL must stop them,
// because the three server connections are all that there are. Then the pooler ends and starts
// again.
func TestEndedCallsFreeTheirServerConnection(t *testing.T) {
	t.Parallel()
	p := newPooled(t)
	db := p.open(t)
	for range 2 {
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(core.WithLane(t.Context(), core.ExpensiveReads), 50*time.Millisecond)
				defer cancel()
				_, err := engine.Rows(ctx, db.DB, engine.Composed{Name: "sleep", Text: "SELECT CAST(pg_sleep(60) AS text)"}, scanText)
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("a cancelled read: %v", err)
				}
			})
		}
		all.Wait()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := mix(ctx, db, "after"); err != nil {
		t.Error(err)
	}
	p.bouncer.Stop()
	_, err := db.Orgs().OrgIDs(ctx)
	if e := core.AsError(err); e.Code != core.CodeTemporarilyUnavailable || e.RetryAfter == 0 {
		t.Errorf("without the pooler: %v", err)
	}
	p.bouncer.Start(t)
	if err := mix(ctx, db, "again"); err != nil {
		t.Error(err)
	}
}
