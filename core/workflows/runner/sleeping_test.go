package runner_test

import (
	"context"
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/storage"
	db "github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	workflowstore "github.com/mailhelm/mailhelm/storage/workflows"
)

// rowsRead counts the rows that the transaction has read from a table, in PostgreSQL.
var rowsRead = db.Register("rows read from a table", `
	SELECT coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) FROM pg_stat_xact_user_tables WHERE relname = $1`)

// noSequentialScans lets the transaction use indexes also for small tables, which PostgreSQL
// would otherwise read as a whole.
var noSequentialScans = db.Register("no sequential scans", `SET LOCAL enable_seqscan = off`)

// TestSleepingRunsAreNotRead lets many runs sleep, and counts the rows of runs and messages that
// a look of a process reads. PostgreSQL counts them for each transaction. SQLite counts no rows,
// so there the test checks the plans of the statements.
func TestSleepingRunsAreNotRead(t *testing.T) {
	t.Parallel()
	sleeping := 2000
	if enginetest.Full() {
		sleeping = 1_000_000
	}
	each(t, func(t *testing.T, w *world) {
		contacts := w.sleep(t, sleeping)
		if w.db.Dialect() == db.SQLite {
			checkPlans(t, w.db)
			return
		}
		if _, err := w.db.Writer().ExecContext(t.Context(), "ANALYZE"); err != nil {
			t.Fatal(err)
		}
		for table, n := range w.readByLook(t) {
			if n > 1 { // one row is the first message of the send
				t.Errorf("a look read %d rows of %s", n, table)
			}
		}
		if !enginetest.Full() {
			return // PostgreSQL may read a table of so few rows as a whole
		}
		must(t, w.observer.Changes.Touch(t.Context(), w.org, contacts[:3]))
		for table, n := range w.readByLook(t) {
			if n > 20 { // each statement that locks or changes a run counts its row again
				t.Errorf("a look after the change of three contacts read %d rows of %s", n, table)
			}
		}
	})
}

// sleep begins runs that sleep: until a time, until their contact changes, until a person decides
// and until the account has taken their message. It returns their contacts.
func (w *world) sleep(t *testing.T, n int) []string {
	t.Helper()
	const page = 1000
	id := w.launch(t, "enter on activity.signup\nwait up to 3 days until attr.vip = true\nsend \"tips\"")
	var contacts []string
	for range n / page {
		runs, mails := make([]workflows.Run, page), []workflows.Mail(nil)
		for i := range runs {
			contacts = append(contacts, core.NewID())
			runs[i] = workflows.Run{ID: core.NewID(), WorkflowID: id, Version: 1, ContactID: contacts[len(contacts)-1], State: engine.Begin(start), StartedAt: start}
		}
		_, err := workflowstore.NewEntryStore(w.db.DB).Enroll(t.Context(), w.org, id, runs, false)
		must(t, err)
		for i := range runs {
			s := &runs[i].State
			s.Node, s.Phase, s.WakeAt = "1", []engine.Phase{engine.Waiting, engine.Waiting, engine.Held, engine.Sending}[i%4], time.Time{}
			if s.Phase == engine.Waiting {
				s.Node, s.Until, s.WakeAt, s.OnChange = "0", start.Add(3*day), start.Add(3*day), i%4 == 0
			}
			if s.Phase == engine.Sending {
				mails = append(mails, workflows.Mail{
					Key: core.NewID(), RunID: runs[i].ID, ContactID: runs[i].ContactID, Email: fmt.Sprint(i, "@example.com"),
					Send: workflows.Send{ID: workflows.SendID(id, 1, "1"), WorkflowID: id, Version: 1, Path: "1", Template: "tips"},
				})
			}
		}
		must(t, workflowstore.NewTimerStore(w.db.DB).Move(t.Context(), w.org, id, runs, nil))
		must(t, workflowstore.NewMailStore(w.db.DB).AddMails(t.Context(), w.org, mails, start))
	}
	return contacts
}

// readByLook returns the number of rows that a look reads, by table.
func (w *world) readByLook(t *testing.T) map[string]int {
	t.Helper()
	var before, after map[string]int
	must(t, w.db.InTx(t.Context(), func(ctx context.Context) (err error) {
		if !enginetest.Full() {
			if _, err := w.db.Exec(ctx, noSequentialScans); err != nil {
				return err
			}
		}
		if before, err = w.readRows(ctx); err != nil {
			return err
		}
		err = w.runner.Look(ctx)
		w.runner.Join() // what it began uses the connection of this transaction
		if err != nil {
			return err
		}
		if _, err := workflowstore.NewMailStore(w.db.DB).OpenSends(ctx, 200); err != nil {
			return err
		}
		after, err = w.readRows(ctx)
		return err
	}))
	for table := range after {
		after[table] -= before[table]
	}
	return after
}

// readRows returns the number of rows that the connection has read. It includes those of earlier
// transactions of the last second.
func (w *world) readRows(ctx context.Context) (map[string]int, error) {
	read := map[string]int{}
	for _, table := range []string{"workflow_runs", "workflow_mails", "workflow_events", "handover_recipients"} {
		rows, err := db.Values[int](ctx, w.db.DB, rowsRead, table)
		if err != nil {
			return nil, err
		}
		read[table] = rows[0]
	}
	return read, nil
}

// checkPlans checks that the statements of a look find rows by the indexes of timers, of contacts
// and of messages without an outcome.
func checkPlans(t *testing.T, on *storage.DB) {
	t.Helper()
	for name, want := range map[string]string{
		"busy workflows":                      `SEARCH r USING COVERING INDEX workflow_runs_timers \(org_id=\? AND workflow_id=\? AND wake_at<\?\)`,
		"due runs":                            `SEARCH r USING INDEX workflow_runs_timers \(org_id=\? AND workflow_id=\? AND wake_at<\?\)`,
		"open sends of workflows":             `SEARCH m USING COVERING INDEX workflow_mails_open \(org_id=\? AND send_id=\?`,
		"lock runs of contacts":               `SEARCH r USING INDEX workflow_runs_of_contact \(org_id=\? AND contact_id=\?\)`,
		"wake runs":                           `SEARCH workflow_runs USING INDEX workflow_runs_of_contact \(org_id=\? AND contact_id=\?\)`,
		"organizations with touched contacts": `USING COVERING INDEX sqlite_autoindex_workflow_touched_1`,
	} {
		found := false
		for _, s := range db.Statements() {
			if s.Name() != name {
				continue
			}
			found = true
			if plan := storagetest.Plan(t, on, s); !regexp.MustCompile(want).MatchString(plan) {
				t.Errorf("the plan of %q is\n%s\nwant %s", name, plan, want)
			}
		}
		if !found {
			t.Errorf("there is no statement %q", name)
		}
	}
}
