package operations_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

const (
	// firstMeasured is the version before the first migration during which the test writes.
	// The tables of contacts and jobs exist from then on.
	firstMeasured = 6
	// longestWait is the longest time that a write may wait for one migration.
	longestWait = 30 * time.Second
	// writeEvery leaves SQLite, which has one writer at a time, to the migrations in between.
	writeEvery = 5 * time.Millisecond
)

// migrated is a database whose migrations are applied one by one, while a second connection
// writes.
type migrated struct {
	t        *testing.T
	db       *storage.DB
	other    *storage.DB
	org      string
	contacts int

	writes  atomic.Int64
	longest atomic.Int64 // nanoseconds, of the present migration
}

// emptyDatabase returns the address of a database without tables.
func emptyDatabase(t *testing.T, postgres bool) storage.Config {
	t.Helper()
	c := storage.Config{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler), CallerWait: time.Minute}
	if !postgres {
		return c
	}
	c.URL, c.MaxConns = enginetest.PostgresURL(t), 4
	db := storagetest.Open(t, c)
	for _, statement := range []string{"DROP SCHEMA public CASCADE", "CREATE SCHEMA public"} {
		if _, err := db.Writer().ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// fill stores an organization and contacts, and migrates to firstMeasured before.
func (m *migrated) fill() {
	m.t.Helper()
	ctx := m.t.Context()
	if err := m.db.MigrateTo(ctx, firstMeasured); err != nil {
		m.t.Fatal(err)
	}
	tx, err := m.db.Writer().BeginTx(ctx, nil)
	if err != nil {
		m.t.Fatal(err)
	}
	exec := func(statement string, args ...any) {
		m.t.Helper()
		if _, err := tx.ExecContext(ctx, statement, args...); err != nil {
			m.t.Fatal(err)
		}
	}
	exec(`INSERT INTO orgs (id, name, slug, tier, retention_days, git_connected, created_at) VALUES ($1, 'Acme', 'acme', 'team', 90, FALSE, 1)`, m.org)
	for i := range m.contacts {
		id := m.contactID(i)
		exec(`INSERT INTO contacts (org_id, id, email, email_key, status, attributes, topic_preferences, unsubscribe_all, created_at, updated_at)
			VALUES ($1, $2, $3, $4, 'active', '{"plan":"pro"}', '[]', FALSE, 1, 1)`, m.org, id, id, id)
	}
	if err := tx.Commit(); err != nil {
		m.t.Fatal(err)
	}
}

func (m *migrated) contactID(i int) string { return fmt.Sprintf("contact-%06d", i) }

// write changes contacts and adds audit events until ctx ends. It stores the longest write.
func (m *migrated) write(ctx context.Context) error {
	pace := time.NewTicker(writeEvery)
	defer pace.Stop()
	for i := 0; ctx.Err() == nil; i++ {
		<-pace.C
		begun := time.Now()
		_, err := m.other.Writer().ExecContext(context.WithoutCancel(ctx),
			`UPDATE contacts SET updated_at = updated_at + 1 WHERE org_id = $1 AND id = $2`, m.org, m.contactID(i%m.contacts))
		if err == nil {
			_, err = m.other.Writer().ExecContext(context.WithoutCancel(ctx), `
				INSERT INTO audit_events (org_id, occurred_at, id, action, actor_kind, actor_id, surface, subject_id, request_id, detail)
				VALUES ($1, $2, $3, 'test', 'system', 'test', '', '', '', '{}')`, m.org, i, core.NewID())
		}
		if err != nil {
			return err
		}
		m.writes.Add(1)
		if took := int64(time.Since(begun)); took > m.longest.Load() {
			m.longest.Store(took)
		}
	}
	return nil
}

// TestMigrationsWhileWritesGoOn applies each migration to a database with contacts, while
// another connection writes, and reports for how long a write waited. With MAILHELM_TEST_FULL=1
// there are 100,000 contacts.
func TestMigrationsWhileWritesGoOn(t *testing.T) {
	t.Parallel()
	contacts := 300
	if os.Getenv("MAILHELM_TEST_FULL") == "1" {
		contacts = 100_000
	}
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
		c := emptyDatabase(t, postgres)
		m := &migrated{t: t, db: storagetest.Open(t, c), other: storagetest.Open(t, c), org: core.NewID(), contacts: contacts}
		m.fill()
		ctx, stop := context.WithCancel(t.Context())
		var failed error
		var writing sync.WaitGroup
		writing.Go(func() { failed = m.write(ctx) })
		steps, err := m.db.MigrationStatus(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range steps[firstMeasured:] {
			m.longest.Store(0)
			begun := time.Now()
			if err := m.db.MigrateTo(t.Context(), step.Version); err != nil {
				t.Fatalf("%04d_%s: %v", step.Version, step.Name, err)
			}
			if waited := time.Duration(m.longest.Load()); waited > longestWait {
				t.Errorf("%04d_%s: a write waited %s", step.Version, step.Name, waited)
			} else if took := time.Since(begun); took > 100*time.Millisecond {
				t.Logf("%04d_%s took %s, and the longest write %s", step.Version, step.Name, took.Round(time.Millisecond), waited.Round(time.Millisecond))
			}
		}
		stop()
		writing.Wait()
		if failed != nil || m.writes.Load() == 0 {
			t.Errorf("%d writes, %v", m.writes.Load(), failed)
		}
		if missing, err := m.db.MissingMigrations(t.Context()); missing != 0 || err != nil {
			t.Errorf("%d migrations are missing, %v", missing, err)
		}
		m.checkContacts()
	})
}

// checkContacts checks that all contacts are left, with a row in the table of slots each.
func (m *migrated) checkContacts() {
	m.t.Helper()
	for _, table := range []string{"contacts", "contact_slots"} {
		var n int
		if err := m.db.Reader().QueryRowContext(m.t.Context(), `SELECT count(*) FROM `+table).Scan(&n); err != nil || n != m.contacts {
			m.t.Errorf("%s has %d rows, %v", table, n, err)
		}
	}
}
