package partitions_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/partitions"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestPartitionsFollowTheClock runs the job once a month for 17 months, and records a row of each
// table before each run. No row may be in the default partition, and a partition must be dropped
// when the longest retention of the organizations has ended, and not before. That of timelines is
// dropped when its rows are deleted, after six months.
func TestPartitionsFollowTheClock(t *testing.T) {
	t.Parallel()
	db := storagetest.Postgres(t)
	for slug, days := range map[string]int{"short": 30, "long": 400} {
		if err := db.Orgs().InsertOrg(t.Context(), core.Org{ID: slug, Slug: slug, RetentionDays: days}); err != nil {
			t.Fatal(err)
		}
	}
	start := db.Now().UTC()
	now := time.Date(start.Year(), start.Month(), 15, 0, 0, 0, 0, time.UTC)
	first := now.AddDate(0, 1, 0) // the month of the first partition
	worker := partitions.Worker(partitions.Config{
		Store: db.Partitions(), Busy: errors.New("never"), Clock: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler), Sleep: core.Sleep,
	})
	dropped := map[string]string{}
	for range 17 {
		record(t, db, now)
		if _, err := db.Writer().ExecContext(t.Context(), `DELETE FROM workflow_events WHERE occurred_at < $1`, now.AddDate(0, -6, 0).UnixMicro()); err != nil {
			t.Fatal(err)
		}
		if err := worker.Work(t.Context(), partitions.Args{}); err != nil {
			t.Fatal(err)
		}
		for _, table := range []string{"activities", "message_events", "message_recipients", "domainauth_rows", "workflow_events"} {
			if rest := number(t, db, `SELECT count(*) FROM `+table+`_default`); rest != 0 {
				t.Errorf("%s: %d rows of %s are in the default partition", now.Format("2006-01"), rest, table)
			}
			if dropped[table] == "" && number(t, db, `SELECT count(*) FROM pg_class WHERE relname = '`+table+`_`+first.Format("200601")+`'`) == 0 {
				dropped[table] = now.Format("2006-01")
			}
		}
		now = now.AddDate(0, 1, 0)
	}
	want := map[string]string{"activities": first.AddDate(0, 13, 0).Format("2006-01"), "message_events": first.AddDate(0, 14, 0).Format("2006-01"), "message_recipients": first.AddDate(0, 14, 0).Format("2006-01"), "domainauth_rows": first.AddDate(0, 4, 0).Format("2006-01"), "workflow_events": first.AddDate(0, 7, 0).Format("2006-01")}
	for table, month := range want {
		if dropped[table] != month {
			t.Errorf("%s: the first month was dropped in %q, want %s", table, dropped[table], month)
		}
	}
}

// record stores a row of each table.
func record(t *testing.T, db *storage.DB, at time.Time) {
	t.Helper()
	for _, text := range []string{
		`INSERT INTO activities (org_id, occurred_at, id, contact_id, name, properties, source, received_at) VALUES ('long', $1, 'id', '', '', '', '', $1)`,
		`INSERT INTO message_events (org_id, occurred_at, id, message_id, type, recipient, recipient_key, channel, identity, template, test, recorded_at)
			VALUES ('long', $1, 'id', '', '', '', '', '', '', '', FALSE, $1)`,
		`INSERT INTO message_recipients (org_id, recipient, sent_at, message_id) VALUES ('long', '', $1, '')`,
		`INSERT INTO domainauth_rows (org_id, domain_id, day, report, n, source, ip, messages, disposition, dkim, spf, relayed, header_from, envelope_from, details)
			VALUES ('long', '', $1 / 86400000000, '', 1, '', '', 1, '', FALSE, FALSE, FALSE, '', '', '')`,
		`INSERT INTO workflow_events (org_id, workflow_id, run_id, id, version, node_path, event_type, occurred_at, iteration, arm, tier, reason, exit_kind, exit_name, detail)
			VALUES ('long', '', '', '', 1, '', '', $1, 0, '', '', '', '', '', '')`,
	} {
		if _, err := db.Writer().ExecContext(t.Context(), text, at.UnixMicro()); err != nil {
			t.Fatal(err)
		}
	}
}

func number(t *testing.T, db *storage.DB, query string) (n int) {
	t.Helper()
	if err := db.Reader().QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// fakeStore is a Store of the tables a and b. Each step of a fails as often as busy says.
type fakeStore struct {
	busy  int
	err   error
	calls []string
}

func (f *fakeStore) TableNames() []string { return []string{"a", "b"} }

func (f *fakeStore) LongestRetention(context.Context) (int, error) { return 90, nil }

func (f *fakeStore) step(name, table string) error {
	f.calls = append(f.calls, name+" "+table)
	if f.busy == 0 || table == "b" {
		return nil
	}
	f.busy--
	return f.err
}

func (f *fakeStore) Move(_ context.Context, table string, _ time.Time) (bool, error) {
	err := f.step("move", table)
	return err == nil, err
}

func (f *fakeStore) MakeAhead(_ context.Context, table string, _ time.Time) ([]string, error) {
	return nil, f.step("make", table)
}

func (f *fakeStore) Drop(_ context.Context, table string, before time.Time) ([]string, error) {
	return nil, f.step(fmt.Sprint("drop ", before.Format("2006-01-02")), table)
}

// TestLockedTablesAreTriedAgain checks that a step is repeated a few times while its locks are
// held, that another error ends the work on the table, and that the other table gets its turn.
func TestLockedTablesAreTriedAgain(t *testing.T) {
	t.Parallel()
	busy := errors.New("busy")
	const ofB = "move b, make b, drop 2029-12-31 b"
	for name, test := range map[string]struct {
		fails int
		err   error
		want  string
	}{
		"twice":  {2, fmt.Errorf("a lock: %w", busy), "move a, move a, move a, make a, drop 2029-12-31 a, " + ofB},
		"always": {100, busy, strings.Repeat("move a, ", 5) + ofB},
		"other":  {1, errors.New("other"), "move a, " + ofB},
	} {
		store := &fakeStore{busy: test.fails, err: test.err}
		err := partitions.Worker(partitions.Config{
			Store: store, Busy: busy, Clock: func() time.Time { return time.Date(2031, 1, 1, 5, 0, 0, 0, time.UTC) }, Log: slog.New(slog.DiscardHandler),
			Sleep: func(context.Context, time.Duration) error { return nil },
		}).Work(t.Context(), partitions.Args{})
		if failed := test.fails != 2; failed != (err != nil) {
			t.Errorf("%s: %v", name, err)
		}
		if got := strings.Join(store.calls, ", "); got != test.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
