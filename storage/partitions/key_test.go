package partitions_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/storage/partitions"
)

// timelines is the table whose primary key in the schema has no time.
const timelines = "workflow_events"

// keyless makes the table of timelines what it was before tables were divided, with its key.
func (f fixture) keyless() {
	f.Helper()
	f.undivide(timelines)
	f.exec("ALTER TABLE workflow_events DROP CONSTRAINT workflow_events_pkey", "ALTER TABLE workflow_events ADD PRIMARY KEY (org_id, workflow_id, run_id, id)")
}

// insertEvents inserts entries of timelines of a time.
func (f fixture) insertEvents(prefix string, n int, at time.Time) {
	f.Helper()
	f.exec(fmt.Sprintf(`INSERT INTO workflow_events (org_id, workflow_id, run_id, id, version, node_path, event_type, occurred_at, iteration, arm, tier, reason, exit_kind, exit_name, detail)
		SELECT 'org', 'w', 'run' || i %% 7, '%s' || i, 1, '', 'step_entered', %d, 0, '', '', '', '', '', '' FROM generate_series(1, %d) AS i`, prefix, at.UnixMicro(), n))
}

// key returns the columns of the primary key of the table of timelines, and all its indexes.
func (f fixture) key() string {
	f.Helper()
	return f.text("SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'workflow_events'::regclass AND contype = 'p'") + " " +
		f.text("SELECT indexname FROM pg_indexes WHERE tablename = 'workflow_events'")
}

// dividedKey is what key returns for the divided table.
const dividedKey = "PRIMARY KEY (org_id, workflow_id, run_id, id, occurred_at) workflow_events_by_age workflow_events_by_step workflow_events_pkey"

// TestMoveBuildsTheKey moves a table whose primary key in the schema has no time. Each statement
// fails once before and once after it has run, also the one that builds the index of the new key.
func TestMoveBuildsTheKey(t *testing.T) {
	t.Parallel()
	f := setup(t)
	if got := f.key(); got != dividedKey {
		t.Errorf("a new database has %s", got)
	}
	f.keyless()
	f.insertEvents("old", 500, now.AddDate(0, -5, 0))
	f.insertEvents("future", 3, now.AddDate(3, 0, 0))
	before := f.sums(timelines)
	failures := partitions.Failures{}
	for done := false; !done; {
		var err error
		if done, err = f.keeper.Failing(failures).Move(t.Context(), timelines, now); err != nil && !errors.Is(err, partitions.ErrInjected) {
			t.Fatal(err)
		}
	}
	if after := f.sums(timelines); after != before {
		t.Errorf("%s rows, before %s", after, before)
	}
	if got := f.key(); got != dividedKey {
		t.Errorf("after the move: %s", got)
	}
	if want := []string{"workflow_events_203105", "workflow_events_before_203105", "workflow_events_default"}; !slices.Equal(f.pieces(timelines), want) {
		t.Errorf("partitions: %v", f.pieces(timelines))
	}
	if rest := f.text("SELECT relname FROM pg_class WHERE relname LIKE 'workflow_events%divided_key%'"); rest != "" {
		t.Errorf("left behind: %s", rest)
	}
}

// interruptKey ends the build of the index of the new key while it waits for a transaction. The
// server leaves an incomplete index.
func (f fixture) interruptKey() {
	f.Helper()
	tx, err := f.db.Writer().BeginTx(f.Context(), nil)
	f.must(err)
	defer tx.Rollback() //nolint:errcheck // nothing was written
	_, err = tx.ExecContext(f.Context(), "LOCK TABLE workflow_events IN ROW EXCLUSIVE MODE")
	f.must(err)
	ctx, cancel := context.WithCancel(f.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := f.keeper.Move(ctx, timelines, now)
		ended <- err
	}()
	broken := "SELECT relname FROM pg_class AS c JOIN pg_index AS i ON i.indexrelid = c.oid WHERE relname = 'workflow_events_divided_key' AND NOT indisvalid"
	for f.text(broken) == "" && f.Context().Err() == nil {
		select {
		case err := <-ended:
			f.Fatalf("the build ended: %v", err)
		default:
		}
	}
	if done, err := f.keeper.Move(f.Context(), timelines, now); done || !errors.Is(err, partitions.ErrBusy) {
		f.Errorf("another process, while the index is built: %t, %v", done, err)
	}
	cancel()
	if err := <-ended; err == nil {
		f.Error("the build has not failed")
	}
	f.must(tx.Rollback())
	if f.text(broken) == "" {
		f.Fatal("no incomplete index is left")
	}
}

// TestInterruptedKeyIsBuiltAgain checks that an incomplete index is replaced and not used, by the
// job and, if the table has no rows by then, by the next start.
func TestInterruptedKeyIsBuiltAgain(t *testing.T) {
	t.Parallel()
	for _, emptied := range []bool{false, true} {
		f := setup(t)
		f.keyless()
		f.insertEvents("old", 50, now)
		f.interruptKey()
		if emptied {
			f.exec("DELETE FROM workflow_events")
		}
		f.must(f.db.Migrate(t.Context()))
		if divided := len(f.pieces(timelines)) > 0; divided && !emptied {
			t.Error("a table with rows is divided by a start")
		}
		// The server may still end the build, and then the table is busy.
		for done := false; !done; {
			var err error
			if emptied {
				err = f.db.Migrate(t.Context())
				done = len(f.pieces(timelines)) > 0
			} else {
				done, err = f.keeper.Move(t.Context(), timelines, now)
			}
			if err != nil && !errors.Is(err, partitions.ErrBusy) {
				t.Fatal(err)
			}
		}
		if got := f.key(); got != dividedKey {
			t.Errorf("after the move: %s", got)
		}
	}
}

// TestMonthOfOwnPeriodsStaysWithARow checks that a month of timelines is dropped when it is empty,
// and that later months stay as long as an older one does.
func TestMonthOfOwnPeriodsStaysWithARow(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.undivide(timelines)
	_, err := f.keeper.Move(t.Context(), timelines, now)
	f.must(err)
	_, err = f.keeper.MakeAhead(t.Context(), timelines, now.AddDate(0, 4, 0))
	f.must(err)
	may := time.Date(2031, 5, 1, 0, 0, 0, 0, time.UTC)
	f.insertEvents("may", 1, may)
	drop := func() []string {
		dropped, err := f.keeper.Drop(t.Context(), timelines, may.AddDate(0, 3, 0))
		f.must(err)
		return dropped
	}
	if dropped := drop(); len(dropped) > 0 {
		t.Errorf("dropped %v with a row", dropped)
	}
	f.exec("DELETE FROM workflow_events")
	if dropped, want := drop(), []string{"workflow_events_203105", "workflow_events_203106", "workflow_events_203107"}; !slices.Equal(dropped, want) {
		t.Errorf("dropped %v, want %v", dropped, want)
	}
}
