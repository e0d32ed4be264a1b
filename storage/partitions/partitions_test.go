package partitions_test

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/partitions"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// now is a time after the partitions of the template database. Tests undivide a table and move it,
// so that its first partition ends after now.
var now = time.Date(2031, 3, 10, 12, 0, 0, 0, time.UTC)

// fixture is a PostgreSQL database with its Keeper.
type fixture struct {
	testing.TB
	db     *storage.DB
	keeper partitions.Keeper
}

func setup(t *testing.T) fixture {
	t.Helper()
	db := storagetest.Postgres(t)
	return fixture{t, db, db.Partitions()}
}

func (f fixture) exec(texts ...string) {
	f.Helper()
	for _, text := range texts {
		if _, err := f.db.Writer().ExecContext(f.Context(), text); err != nil {
			f.Fatalf("%s: %v", text, err)
		}
	}
}

// text returns the values of a query with one column, separated by spaces.
func (f fixture) text(query string) string {
	f.Helper()
	var all string
	if err := f.db.Reader().QueryRowContext(f.Context(), "SELECT coalesce(string_agg(CAST(v AS text), ' ' ORDER BY v), '') FROM ("+query+") AS q (v)").Scan(&all); err != nil {
		f.Fatalf("%s: %v", query, err)
	}
	return all
}

// pieces returns the names of the partitions of a table.
func (f fixture) pieces(table string) []string {
	f.Helper()
	return strings.Fields(f.text("SELECT c.relname FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid WHERE i.inhparent = '" + table + "'::regclass"))
}

// undivide makes a table what it was before tables were divided.
func (f fixture) undivide(table string) {
	f.Helper()
	i := slices.IndexFunc(f.pieces(table), func(name string) bool { return strings.Contains(name, "_before_") })
	first := f.pieces(table)[i]
	f.exec("ALTER TABLE "+table+" DETACH PARTITION "+first, "DROP TABLE "+table, "ALTER TABLE "+first+" RENAME TO "+table)
	for _, index := range strings.Fields(f.text("SELECT indexname FROM pg_indexes WHERE tablename = '" + table + "'")) {
		f.exec("ALTER INDEX " + index + " RENAME TO " + table + strings.TrimPrefix(index, first))
	}
}

// insert inserts activities that happened and were received at a time.
func (f fixture) insert(prefix string, n int, occurred, received time.Time) {
	f.Helper()
	f.exec(fmt.Sprintf(`INSERT INTO activities (org_id, occurred_at, id, contact_id, name, properties, source, received_at)
		SELECT 'org', %d, '%s' || i, 'contact' || i %% 7, 'name', '{}', 'api', %d FROM generate_series(1, %d) AS i`, occurred.UnixMicro(), prefix, received.UnixMicro(), n))
}

// sums identifies the rows of a table.
func (f fixture) sums(table string) string {
	f.Helper()
	return f.text("SELECT count(*) || ':' || sum(hashtext(CAST(x AS text))) FROM " + table + " AS x")
}

func (f fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// TestNewDatabaseIsDivided checks that a database without rows has partitions after the
// migrations, with the indexes of the schema, and that it takes rows of any time.
func TestNewDatabaseIsDivided(t *testing.T) {
	t.Parallel()
	f := setup(t)
	states, err := f.keeper.States(t.Context(), f.db.Now())
	f.must(err)
	if len(states) != len(partitions.Tables()) {
		t.Errorf("%d states", len(states))
	}
	for _, s := range states {
		if pieces := f.pieces(s.Table); !s.Divided || len(s.Missing) > 0 || s.Moving || len(pieces) != 3 {
			t.Errorf("%+v with %v", s, pieces)
		}
	}
	if got := f.text("SELECT indexname FROM pg_indexes WHERE tablename = 'activities'"); got != "activities_by_name activities_of_contact activities_pkey" {
		t.Errorf("indexes: %s", got)
	}
	f.insert("future", 1, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), now)
	f.insert("past", 1, time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), now)
	if got := f.text("SELECT regexp_replace(CAST(CAST(tableoid AS regclass) AS text), '[0-9]+', '') || ':' || id FROM activities"); got != "activities_before_:past1 activities_default:future1" {
		t.Errorf("rows are in %s", got)
	}
	f.must(f.db.Migrate(t.Context()))
	if n := len(f.pieces("activities")); n != 3 {
		t.Errorf("%d partitions after another migration", n)
	}
}

// TestMoveContinuesAfterAnyStatement moves a table with rows while they are written and read. Each
// statement and each commit of the move fails once before and once after it has run.
func TestMoveContinuesAfterAnyStatement(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.undivide("activities")
	if f.must(f.db.Migrate(t.Context())); len(f.pieces("activities")) != 3 {
		t.Fatal("an empty table is not divided by the next start")
	}
	f.undivide("activities")
	f.exec("GRANT SELECT ON activities TO PUBLIC")
	f.insert("old", 500, now.AddDate(0, -5, 0), now.AddDate(0, -5, 0))
	f.insert("future", 3, now.AddDate(3, 0, 0), now)
	if f.must(f.db.Migrate(t.Context())); len(f.pieces("activities")) != 0 {
		t.Fatal("a table with rows is divided by a start")
	}
	index := f.text("SELECT pg_relation_filenode('activities_by_name')")
	org := core.NewID()
	var written atomic.Int64
	stop, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- write(f, org, &written, stop) }()
	failures, runs := partitions.Failures{}, 0
	for done := false; !done; runs++ {
		var err error
		if done, err = f.keeper.Failing(failures).Move(t.Context(), "activities", now); err != nil && !errors.Is(err, partitions.ErrInjected) && !errors.Is(err, partitions.ErrBusy) {
			t.Fatal(err)
		}
		if found := f.text("SELECT count(*) FROM activities WHERE id LIKE 'old%'"); found != "500" {
			t.Fatalf("%s rows after run %d", found, runs)
		}
	}
	before := written.Load()
	for written.Load() == before {
		runtime.Gosched()
	}
	close(stop)
	f.must(<-ended)
	if len(failures) < 20 || written.Load() < 2 {
		t.Errorf("%d statements, %d rows written: %v", len(failures), written.Load(), failures)
	}
	if got := f.text("SELECT count(*) FROM activities WHERE org_id = '" + org + "'"); got != fmt.Sprint(written.Load()) {
		t.Errorf("%s rows, %d were written", got, written.Load())
	}
	pieces := f.pieces("activities")
	if want := []string{"activities_203105", "activities_before_203105", "activities_default"}; !slices.Equal(pieces, want) {
		t.Errorf("partitions: %v", pieces)
	}
	if got := f.text("SELECT count(*) || CAST(CAST(min(tableoid) AS regclass) AS text) FROM activities WHERE id LIKE 'future%'"); got != "3activities_default" {
		t.Errorf("rows of the future: %s", got)
	}
	if got := f.text("SELECT pg_relation_filenode('activities_before_203105_by_name')"); got != index {
		t.Error("an index was built again")
	}
	if got := f.text("SELECT indexname FROM pg_indexes WHERE tablename = 'activities'"); got != "activities_by_name activities_of_contact activities_pkey" {
		t.Errorf("indexes: %s", got)
	}
	if got := f.text("SELECT has_table_privilege('public', 'activities', 'SELECT')") + f.text("SELECT count(*) FROM pg_constraint WHERE contype = 'c' AND conname LIKE 'activities%'"); got != "true0" {
		t.Errorf("privilege and constraints: %s", got)
	}
}

// write records activities one by one until stop is closed. None may fail.
func write(f fixture, org string, written *atomic.Int64, stop <-chan struct{}) error {
	for {
		select {
		case <-stop:
			return nil
		default:
		}
		err := f.db.Activities().Insert(f.Context(), org, []activities.Activity{{
			ID: core.NewID(), ContactID: core.NewID(), Name: "written", Source: activities.FromAPI, Properties: []byte(`{}`), OccurredAt: now, ReceivedAt: now,
		}})
		if err != nil {
			return err
		}
		written.Add(1)
	}
}

// TestMoveBeginsAnewBeforeItsConstraint checks that a move that was interrupted for long does not
// refuse rows: its constraint is replaced by a later one.
func TestMoveBeginsAnewBeforeItsConstraint(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.undivide("message_events")
	f.exec(fmt.Sprintf("ALTER TABLE message_events ADD CONSTRAINT message_events_before_203104 CHECK (occurred_at < %d) NOT VALID", time.Date(2031, 4, 1, 0, 0, 0, 0, time.UTC).UnixMicro()))
	if done, err := f.keeper.Move(t.Context(), "message_events", now.AddDate(0, 0, 20)); err != nil || !done {
		t.Fatalf("%t, %v", done, err)
	}
	if got := f.pieces("message_events"); !slices.Contains(got, "message_events_before_203105") {
		t.Errorf("partitions: %v", got)
	}
}

// TestPartitionsAheadTakeRowsOfTheDefault checks that months get partitions ahead of time, that
// rows of the default partition move to theirs, and that too many rows of a month stay without
// holding up the next months.
func TestPartitionsAheadTakeRowsOfTheDefault(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.undivide("activities")
	f.insert("first", 1, now, now)
	_, err := f.keeper.Move(t.Context(), "activities", now)
	f.must(err)
	f.insert("many", partitions.MostMoved+1, now.AddDate(0, 4, 0), now)
	f.insert("some", 1000, now.AddDate(0, 5, 0), now)
	before := f.sums("activities")
	var made []string
	failures := partitions.Failures{}
	for done := false; !done; {
		more, err := f.keeper.Failing(failures).MakeAhead(t.Context(), "activities", now.AddDate(0, 5, 0))
		if err != nil && !errors.Is(err, partitions.ErrInjected) {
			t.Fatal(err)
		}
		made, done = append(made, more...), err == nil
	}
	if want := []string{"activities_203106", "activities_203108", "activities_203109", "activities_203110", "activities_before_203105", "activities_203105", "activities_default"}; len(f.pieces("activities")) != len(want) {
		t.Errorf("partitions: %v, made %v", f.pieces("activities"), made)
	}
	if got := f.text("SELECT count(*) FROM activities_203108") + " " + f.text("SELECT count(*) FROM activities_default"); got != fmt.Sprint("1000 ", partitions.MostMoved+1) {
		t.Errorf("rows of the month and of the default partition: %s", got)
	}
	if after := f.sums("activities"); after != before {
		t.Errorf("%s rows, before %s", after, before)
	}
	if states, err := f.keeper.States(t.Context(), now.AddDate(0, 4, 0)); err != nil || !slices.Equal(states[0].Missing, []string{"activities_203107"}) || states[0].Rest == 0 {
		t.Errorf("%+v, %v", states[0], err)
	}
}

// TestDropKeepsWhatWasReceivedLater checks that months are dropped when all of their rows have
// expired, that rows that were received later stay, and that a month with many of them stays.
func TestDropKeepsWhatWasReceivedLater(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.undivide("activities")
	f.insert("first", 1, now, now)
	_, err := f.keeper.Move(t.Context(), "activities", now)
	f.must(err)
	_, err = f.keeper.MakeAhead(t.Context(), "activities", now.AddDate(0, 4, 0))
	f.must(err)
	may := time.Date(2031, 5, 1, 0, 0, 0, 0, time.UTC)
	f.insert("may", 2000, may, may)
	f.insert("late", 10, may, may.AddDate(0, 2, 0))
	f.insert("june", 10, may.AddDate(0, 1, 0), may.AddDate(0, 1, 0))
	f.insert("later", partitions.MostKept+1, may.AddDate(0, 1, 0), may.AddDate(0, 6, 0))
	if dropped, err := f.keeper.Drop(t.Context(), "activities", may.AddDate(0, 1, 0).Add(-1)); err != nil || len(dropped) > 0 {
		t.Errorf("a moment before the end: %v, %v", dropped, err)
	}
	var dropped []string
	failures := partitions.Failures{}
	for done := false; !done; {
		more, err := f.keeper.Failing(failures).Drop(t.Context(), "activities", may.AddDate(0, 2, 0))
		if err != nil && !errors.Is(err, partitions.ErrInjected) {
			t.Fatal(err)
		}
		dropped, done = append(dropped, more...), err == nil
	}
	if slices.Contains(f.pieces("activities"), "activities_203105") || !slices.Contains(f.pieces("activities"), "activities_203106") {
		t.Errorf("dropped %v of %v", dropped, f.pieces("activities"))
	}
	if got := f.text("SELECT count(*) || CAST(CAST(min(tableoid) AS regclass) AS text) FROM activities WHERE id LIKE 'late1%' OR id LIKE 'may%'"); got != "2activities_default" {
		t.Errorf("rows that were received later: %s", got)
	}
	if got := f.text("SELECT count(*) FROM activities WHERE id LIKE 'june%'"); got != "10" {
		t.Errorf("rows of the month that stays: %s", got)
	}
	f.exec("ALTER TABLE activities DETACH PARTITION activities_203107")
	_, err = f.keeper.Drop(t.Context(), "activities", may)
	f.must(err)
	if !slices.Contains(f.pieces("activities"), "activities_203107") {
		t.Error("a detached month that must be kept is not attached again")
	}
}

// TestDaysOfTheFarFutureMakeNoMonths moves a table whose days come from reports of strangers. Rows
// with days of the far future are in the default partition after it, as are new ones, and only the
// next months have partitions. A month has the days from its first to its last.
func TestDaysOfTheFarFutureMakeNoMonths(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.undivide("domainauth_rows")
	add := func(report string, day int64) {
		f.exec(fmt.Sprintf(`INSERT INTO domainauth_rows (org_id, domain_id, day, report, n, source, ip, messages, disposition, dkim, spf, relayed, header_from, envelope_from, details)
			VALUES ('org', 'd', %d, '%s', 1, '', '', 1, '', FALSE, FALSE, FALSE, '', '', '')`, day, report))
	}
	day := func(at time.Time) int64 { return at.Unix() / 86400 }
	may := time.Date(2031, 5, 1, 0, 0, 0, 0, time.UTC)
	add("stored", day(time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)))
	add("largest", math.MaxInt64)
	add("now", day(now))
	done, err := f.keeper.Move(t.Context(), "domainauth_rows", now)
	if f.must(err); !done {
		t.Fatal("the table is not divided")
	}
	add("new", day(now.AddDate(200, 0, 0)))
	add("last", day(may)-1)
	add("first", day(may))
	made, err := f.keeper.MakeAhead(t.Context(), "domainauth_rows", now.AddDate(0, 1, 0))
	if f.must(err); !slices.Equal(made, []string{"domainauth_rows_203106"}) {
		t.Errorf("made %v", made)
	}
	if got := f.text("SELECT CAST(CAST(tableoid AS regclass) AS text) || ':' || report FROM domainauth_rows"); got !=
		"domainauth_rows_203105:first domainauth_rows_before_203105:last domainauth_rows_before_203105:now domainauth_rows_default:largest domainauth_rows_default:new domainauth_rows_default:stored" {
		t.Errorf("rows are in %s", got)
	}
}

// TestLocksAreNotWaitedForLong checks that a step ends with ErrBusy if the table is locked.
func TestLocksAreNotWaitedForLong(t *testing.T) {
	t.Parallel()
	f := setup(t)
	tx, err := f.db.Writer().BeginTx(t.Context(), nil)
	f.must(err)
	defer tx.Rollback() //nolint:errcheck // nothing was written
	if _, err := tx.ExecContext(t.Context(), "LOCK TABLE activities_default"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.keeper.MakeAhead(t.Context(), "activities", f.db.Now()); !errors.Is(err, partitions.ErrBusy) {
		t.Errorf("%v", err)
	}
}

// TestSQLiteIsNotDivided checks that every method does nothing on SQLite.
func TestSQLiteIsNotDivided(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	k := db.Partitions()
	states, err := k.States(t.Context(), now)
	done, moved := k.Move(t.Context(), "activities", now)
	made, ahead := k.MakeAhead(t.Context(), "activities", now)
	dropped, drop := k.Drop(t.Context(), "activities", now)
	if err := errors.Join(err, moved, ahead, drop, k.Setup(t.Context(), now)); err != nil || done || len(states)+len(made)+len(dropped)+len(k.TableNames()) > 0 {
		t.Errorf("%v, %v, %v, %v, %v", err, done, states, made, dropped)
	}
}
