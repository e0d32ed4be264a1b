package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// replicated is a database with a streaming standby.
type replicated struct {
	t                *testing.T
	db               *database // uses the standby
	other            *database // another process
	control          *database // opens the standby itself
	primary, standby *enginetest.Server
}

const testLag = 600 * time.Millisecond

func newReplicated(t *testing.T) *replicated {
	t.Helper()
	r := &replicated{t: t}
	r.primary, r.standby = enginetest.WithStandby(t)
	c := engine.Config{URL: r.primary.URL(), CallerWait: time.Minute, MaxConns: 8}
	r.other = openDatabase(t, c)
	must(t, r.other.Migrate(t.Context()))
	c.URL, c.ReplicaURL, c.ReplicaLag = enginetest.AnyURL("primary", r.primary, r.standby), enginetest.AnyURL("standby", r.primary, r.standby), testLag
	r.db = openDatabase(t, c)
	r.control = openDatabase(t, engine.Config{URL: r.standby.URL(), MaxConns: 4})
	r.await("")
	return r
}

// await waits until reads use the replica, or use the primary for the reason.
func (r *replicated) await(why engine.ReplicaReason) {
	r.t.Helper()
	r.waitFor(fmt.Sprintf("a replica that is %q", why), func() bool {
		short, end := context.WithTimeout(r.t.Context(), time.Millisecond)
		defer end()
		_, got := r.db.CheckReplica(short)
		return got == why
	})
}

// waitFor calls reached until it returns true.
func (r *replicated) waitFor(what string, reached func() bool) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 20*time.Second)
	defer cancel()
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for !reached() {
		select {
		case <-again.C:
		case <-ctx.Done():
			_, got := r.db.CheckReplica(ctx)
			r.t.Fatalf("no %s; it is %q", what, got)
		}
	}
}

// read runs a read that may lag. It returns the number of organizations and whether the standby
// answered.
func (r *replicated) read() (orgs int, standby bool) {
	r.t.Helper()
	ctx, call := core.WithReplica(core.WithLane(r.t.Context(), core.ExpensiveReads))
	got, err := engine.Rows(ctx, r.db.DB, engine.Composed{Name: "where", Text: "SELECT CAST(pg_is_in_recovery() AS text)"}, scanText)
	must(r.t, err)
	ids, err := r.db.Orgs().OrgIDs(ctx)
	must(r.t, err)
	if lag, answered := call.Lag(); answered != (got[0] == "true") || answered && (lag < 0 || lag > testLag) {
		r.t.Errorf("the call says %v, %v; in recovery: %s", lag, answered, got[0])
	}
	return len(ids), got[0] == "true"
}

// expect checks the answer and the server of a read. Where the standby is to answer, the primary may
// answer before it, as the standby of a busy machine takes its time.
func (r *replicated) expect(what string, orgs int, standby bool) {
	r.t.Helper()
	r.waitFor("answer of the right server "+what, func() bool {
		n, on := r.read()
		if n != orgs || on && !standby {
			r.t.Errorf("%s: %d organizations, from the standby %t; want %d, %t", what, n, on, orgs, standby)
		}
		return on == standby
	})
}

func insertOrg(ctx context.Context, db *database) error {
	id := core.NewID()
	return db.Orgs().InsertOrg(ctx, core.Org{ID: id, Name: "Acme", Slug: id, Tier: "free"})
}

// onStandby runs a statement of PostgreSQL on the standby.
func (r *replicated) onStandby(statement string) {
	r.t.Helper()
	_, err := r.control.Writer().ExecContext(r.t.Context(), statement)
	must(r.t, err)
}

// TestReplica checks which reads a standby answers, and when reads use the primary: with replay
// paused, without the standby, and after its promotion. No read fails. When the former primary
// follows the promoted standby, it answers.
func TestReplica(t *testing.T) {
	t.Parallel()
	r := newReplicated(t)
	r.expect("at first", 0, true)
	for n := 1; n <= 20; n++ {
		must(t, insertOrg(t.Context(), r.db))
		if got, _ := r.read(); got != n {
			t.Fatalf("a process reads %d of its %d organizations", got, n)
		}
	}
	r.otherReads()
	r.expect("before the pause", 21, true)

	r.logPositions()

	r.onStandby("SELECT pg_wal_replay_pause()")
	must(t, insertOrg(t.Context(), r.other))
	// The standby lacks the write of the other process. On a busy machine the bound may be over.
	if n, standby := r.read(); standby != (n == 21) {
		t.Errorf("%d organizations, from the standby %t", n, standby)
	}
	must(t, insertOrg(t.Context(), r.db))
	r.expect("an own write on a paused standby", 23, false)
	r.await(engine.ReplicaLags)
	r.expect("above the bound", 23, false)
	r.onStandby("SELECT pg_wal_replay_resume()")
	r.await("")
	r.expect("after the pause", 23, true)

	r.standby.Stop(t)
	r.expect("just after the standby stopped", 23, false)
	r.await(engine.ReplicaUnreachable)
	r.expect("without the standby", 23, false)
	r.commitAlone()
	r.standby.Start(t)
	r.await("")
	r.expect("with the standby again", 25, true)

	const unsent = "FFFFFFFF/0" // of a server that failed before it sent it
	r.db.AwaitPosition(unsent)
	r.waitFor("another position", func() bool { return !r.db.AwaitsPosition(unsent) })
	r.await("")

	r.onStandby("SELECT pg_promote()")
	r.await(engine.ReplicaPromoted)
	r.expect("after a promotion", 25, false)
	r.primary.Kill(t)
	r.primary.Follow(t, r.standby)
	r.await("")
	for _, db := range []*database{r.db, r.other} {
		db.DropIdle() // those to the primary that was killed, whose end Close would report
	}
	must(t, insertOrg(t.Context(), r.db))
	r.expect("after the servers changed their roles", 26, true)

	s, _ := r.db.ReplicaStats()
	for _, why := range []engine.ReplicaReason{engine.ReplicaLags, engine.ReplicaUnreachable, engine.ReplicaPromoted, engine.ReplicaOwnWrites} {
		if s.Fallbacks[why] == 0 {
			t.Errorf("no fallback with the reason %s: %+v", why, s)
		}
	}
	if s.Reads < 3 {
		t.Errorf("%d reads", s.Reads)
	}
}

// otherReads checks that reads without the mark, in transactions, on other lanes and after a write
// of the same call use the primary.
func (r *replicated) otherReads() {
	t := r.t
	t.Helper()
	where := func(ctx context.Context) error {
		got, err := engine.Rows(ctx, r.db.DB, engine.Composed{Name: "where", Text: "SELECT CAST(pg_is_in_recovery() AS text)"}, scanText)
		if err == nil && got[0] != "false" {
			err = errors.New("the standby answered")
		}
		return err
	}
	marked, _ := core.WithReplica(core.WithLane(t.Context(), core.ExpensiveReads))
	for name, read := range map[string]func() error{
		"not marked":    func() error { return where(core.WithLane(t.Context(), core.ExpensiveReads)) },
		"a transaction": func() error { return r.db.InTx(marked, where) },
	} {
		if err := read(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, lane := range []core.Lane{core.Calls, core.Vital, core.Background} {
		ctx, _ := core.WithReplica(core.WithLane(t.Context(), lane))
		if err := where(ctx); err != nil {
			t.Errorf("lane %d: %v", lane, err)
		}
	}
	ctx, _ := core.WithReplica(core.WithLane(t.Context(), core.ExpensiveReads))
	must(t, insertOrg(ctx, r.db))
	if err := where(ctx); err != nil {
		t.Errorf("after a write of the call: %v", err)
	}
}

// commitAlone checks that a write is no success if its time ends while its commit waits for a
// synchronous standby that is away. The primary has the write nevertheless.
func (r *replicated) commitAlone() {
	r.t.Helper()
	settings := func(statements ...string) {
		for _, statement := range statements {
			_, err := r.other.Writer().ExecContext(r.t.Context(), statement)
			must(r.t, err)
		}
	}
	settings("ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()")
	// The server reads the setting at its leisure.
	committed := make(chan error, 1)
	commit := func() {
		_, err := r.other.Writer().ExecContext(r.t.Context(), "SELECT pg_logical_emit_message(TRUE, '', '')")
		committed <- err
	}
	go commit()
	r.waitFor("commit that waits for a standby", func() bool {
		select {
		case err := <-committed:
			must(r.t, err)
			go commit()
		default:
		}
		var waits bool
		must(r.t, r.other.Reader().QueryRowContext(r.t.Context(), "SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep')").Scan(&waits))
		return waits
	})
	for _, within := range []func(context.Context, func(context.Context) error) error{
		func(ctx context.Context, write func(context.Context) error) error { return write(ctx) },
		func(ctx context.Context, write func(context.Context) error) error { return r.db.InTx(ctx, write) },
	} {
		ctx, cancel := context.WithTimeout(r.t.Context(), 100*time.Millisecond)
		defer cancel()
		id := core.NewID()
		err := within(ctx, func(ctx context.Context) error {
			return r.db.Orgs().InsertOrg(ctx, core.Org{ID: id, Name: "Alone", Slug: id, Tier: "free"})
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			r.t.Errorf("a commit that no standby has: %v", err)
		}
		if _, err := r.db.Orgs().Org(r.t.Context(), id); err != nil {
			r.t.Errorf("the commit was not interrupted: %v", err)
		}
	}
	settings("ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")
	must(r.t, <-committed)
}

// logPositions checks that the standby can reach the position of the primary when nothing more is
// written: after a switch of the file of the log, also without synchronous commits, and beside an
// open transaction.
func (r *replicated) logPositions() {
	r.t.Helper()
	asynchronous, err := engine.Open(r.t.Context(), engine.Config{
		URL: r.primary.URL() + "&synchronous_commit=off", ReplicaURL: r.standby.URL(), ReplicaLag: testLag, MaxConns: 4,
	})
	must(r.t, err)
	defer func() { must(r.t, asynchronous.Close()) }()
	const switchFile = "SELECT pg_switch_wal()"
	r.expectFlushed(&database{asynchronous}, switchFile)
	r.expectFlushed(r.db, switchFile)
	// A record of an open transaction is sent when something after it commits.
	r.expectFlushed(r.db, "SELECT pg_logical_emit_message(TRUE, '', '')")
}

// expectFlushed checks that the position that db takes of the primary is the end of what is flushed,
// after a statement of an open transaction that moves the place for the next record.
func (r *replicated) expectFlushed(db *database, statement string) {
	r.t.Helper()
	r.waitFor("quiet moment", func() bool {
		tx, err := r.other.Writer().BeginTx(r.t.Context(), nil)
		must(r.t, err)
		defer func() { must(r.t, tx.Rollback()) }()
		_, err = tx.ExecContext(r.t.Context(), statement)
		must(r.t, err)
		written, flushed := r.logEnds()
		got, err := db.LogPosition(r.t.Context())
		must(r.t, err)
		if again, alsoFlushed := r.logEnds(); written != again || flushed != alsoFlushed || written == flushed {
			return false // another process of the server wrote
		}
		if got != flushed {
			r.t.Errorf("after %s the position is %s, of a log that is flushed to %s", statement, got, flushed)
		}
		return true
	})
}

// logEnds returns where the primary writes the next record of its log, and the end of what is
// flushed.
func (r *replicated) logEnds() (written, flushed string) {
	r.t.Helper()
	must(r.t, r.other.Writer().QueryRowContext(r.t.Context(),
		"SELECT CAST(pg_current_wal_insert_lsn() AS text), CAST(pg_current_wal_flush_lsn() AS text)").Scan(&written, &flushed))
	return written, flushed
}

// TestReplicaNeedsADatabase checks which replicas Open refuses.
func TestReplicaNeedsADatabase(t *testing.T) {
	t.Parallel()
	url := enginetest.PostgresURL(t)
	for name, c := range map[string]engine.Config{
		"SQLite":       {Dir: t.TempDir(), ReplicaURL: url},
		"another kind": {URL: url, ReplicaURL: "mysql://u:hunter2@db/x"},
	} {
		_, err := engine.Open(t.Context(), c)
		if _, ok := errors.AsType[engine.ReplicaError](err); !ok || strings.Contains(fmt.Sprint(err), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A primary is no replica of itself, and a server that does not answer is none yet.
	for replica, why := range map[string]engine.ReplicaReason{url: engine.ReplicaPromoted, "postgres://u@127.0.0.1:1/x?sslmode=disable": engine.ReplicaUnreachable} {
		r := &replicated{t: t, db: openDatabase(t, engine.Config{URL: url, ReplicaURL: replica, MaxConns: 4})}
		r.await(why)
		r.expect(string(why), 0, false)
	}
}
