package retention_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/privacy"
	"github.com/mailhelm/mailhelm/core/retention"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine"
	retentionstore "github.com/mailhelm/mailhelm/storage/retention"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	"github.com/mailhelm/mailhelm/storage/workflows"
)

const day = 24 * time.Hour

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// world is a database with two organizations, and a clock.
type world struct {
	t          *testing.T
	db         *storage.DB
	now        time.Time
	org, other core.Org
	sleeps     []time.Duration
	batches    []int // rows of the calls of DeleteOld
}

func newWorld(t *testing.T, db *storage.DB) *world {
	t.Helper()
	w := &world{t: t, db: db, now: start}
	for _, org := range []*core.Org{&w.org, &w.other} {
		*org = core.Org{ID: core.NewID(), Slug: core.NewID(), RetentionDays: 90}
		w.must(db.Orgs().InsertOrg(t.Context(), *org))
	}
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) clock() time.Time { return w.now }

func (w *world) settings() retention.Settings {
	return retention.Settings{Store: countingStore{retentionstore.New(w.db.DB), w}, Orgs: w.db.Orgs().Org, Audit: w.db.Audit(), Transactor: w.db, Clock: w.clock}
}

// countingStore notes the rows that DeleteOld deletes.
type countingStore struct {
	retention.Store
	w *world
}

func (s countingStore) DeleteOld(ctx context.Context, orgID string, kind retention.Name, before time.Time, limit int) (int, error) {
	n, err := s.Store.DeleteOld(ctx, orgID, kind, before, limit)
	s.w.batches = append(s.w.batches, n)
	return n, err
}

// hasher returns the hasher of tombstones.
func hasher() (privacy.Hasher, error) {
	return privacy.NewHasher(bytes.Repeat([]byte{1}, privacy.KeyBytes)), nil
}

func (w *world) run() {
	w.t.Helper()
	store := w.db.Privacy()
	job := retention.Worker(retention.Config{
		Settings: w.settings(), OrgIDs: w.db.Orgs().OrgIDs, Log: slog.New(slog.DiscardHandler),
		Contacts: privacy.Archive{Store: store, Tombstones: store, Hasher: hasher, Runs: workflows.NewTimerStore(w.db.DB), Transactor: w.db, Clock: w.clock},
		Sleep:    func(_ context.Context, d time.Duration) error { w.sleeps = append(w.sleeps, d); return nil },
	})
	w.must(job.Work(w.t.Context(), retention.Args{}))
}

// record is where the test stores records of a kind: the table, the column with their age and
// the other columns, with a value for each record.
type record struct {
	table, age string
	values     func(i int) map[string]any
}

var records = map[retention.Name]record{
	retention.ArchivedContacts: {"contacts", "updated_at", func(i int) map[string]any {
		address := fmt.Sprintf("p%d@x.example", i)
		return map[string]any{"id": fmt.Sprintf("c%05d", i), "email": address, "email_key": address, "status": "archived", "attributes": "{}", "topic_preferences": "{}", "unsubscribe_all": false, "created_at": 1}
	}},
	retention.AuditLog: {"audit_events", "occurred_at", func(i int) map[string]any {
		return map[string]any{"id": fmt.Sprint(i), "action": "planted", "actor_kind": "user", "actor_id": "u", "surface": "rest", "subject_id": "", "request_id": "", "detail": "{}"}
	}},
	retention.MembershipLog: {"membership_log", "occurred_at", func(i int) map[string]any {
		return map[string]any{"id": fmt.Sprint(i), "set_kind": "list", "set_id": "l", "contact_id": "c", "entered": true}
	}},
	retention.Undeliverable: {"undeliverable", "last_changed_at", func(i int) map[string]any {
		address := fmt.Sprintf("u%d@x.example", i)
		return map[string]any{"email_key": address, "id": fmt.Sprint(i), "email": address, "status": "listed", "reason": "complaint", "first_seen_at": 1, "last_seen_at": 1, "event_count": 1, "exclusion_reason": ""}
	}},
	retention.AssistantCalls: {"tool_usage", "day", func(i int) map[string]any {
		return map[string]any{"client_id": "c", "user_id": "u", "operation": fmt.Sprint(i), "calls": 1, "confirmed": 0, "asked": 0, "refused": 0, "failed": 0, "last_at": 1}
	}},
	retention.Replay: {"replay_records", "called_at", func(i int) map[string]any {
		return map[string]any{"space": "rest:contacts_create", "key": fmt.Sprint(i), "digest": "d", "token": "t", "done": true, "result": []byte("{}"), "expires_at": start.AddDate(1, 0, 0).UnixMicro()}
	}},
	retention.FailedJobs: {"river_job", "finalized_at", func(int) map[string]any {
		return map[string]any{"kind": "letter", "max_attempts": 1, "state": "discarded"}
	}},
	retention.Recipients: {"handover_recipients", "changed_at", func(i int) map[string]any {
		return map[string]any{"send_id": "b", "recipient": fmt.Sprint(i), "email": "r@x.example", "state": "sent", "attempt": 1, "claimed_by": "", "not_before": 1, "message_id": "m", "reason": "", "tier": ""}
	}},
	retention.Timelines: {"workflow_events", "occurred_at", func(i int) map[string]any {
		return map[string]any{"workflow_id": "w", "run_id": "r", "id": fmt.Sprint(i), "version": 1, "node_path": "", "event_type": "step_entered", "iteration": 0, "arm": "", "tier": "", "reason": "", "exit_kind": "", "exit_name": "", "detail": ""}
	}},
	retention.TestSends: {"test_sends", "created_at", func(i int) map[string]any {
		return map[string]any{"id": fmt.Sprint(i), "subject_kind": "broadcast", "subject_id": "b", "created_by_kind": "user", "created_by": "u", "user_id": "u"}
	}},
}

// plant stores a record of each age, in one statement.
func (w *world) plant(org string, kind retention.Name, ages ...time.Time) {
	w.t.Helper()
	r := records[kind]
	names := slices.Sorted(maps.Keys(r.values(0)))
	var rows []string
	var args []any
	for i, at := range ages {
		values := r.values(i)
		if kind == retention.FailedJobs {
			args = append(args, ownedArgs(org), w.db.JobParameter(at))
		} else {
			args = append(args, org, at.UnixMicro())
		}
		marks := []string{fmt.Sprintf("$%d", len(args)-1), fmt.Sprintf("$%d", len(args))}
		for _, name := range names {
			args = append(args, values[name])
			marks = append(marks, fmt.Sprintf("$%d", len(args)))
		}
		rows = append(rows, "("+strings.Join(marks, ", ")+")")
	}
	owner := "org_id"
	if kind == retention.FailedJobs {
		owner = "args"
	}
	text := "INSERT INTO " + r.table + " (" + owner + ", " + r.age + ", " + strings.Join(names, ", ") + ") VALUES " + strings.Join(rows, ", ")
	_, err := w.db.Writer().ExecContext(w.t.Context(), text, args...)
	w.must(err)
}

// ownedArgs returns the arguments of a job of an organization, or of none.
func ownedArgs(org string) string {
	if org == "" {
		return "{}"
	}
	return `{"org_id": "` + org + `"}`
}

// left returns the ages of the stored records of a kind, in order.
func (w *world) left(org string, kind retention.Name) []time.Time {
	w.t.Helper()
	r := records[kind]
	condition, owner := "", "org_id"
	if kind == retention.FailedJobs {
		condition, owner = " AND state = 'discarded'", "coalesce(args ->> 'org_id', '')"
	}
	if kind == retention.AuditLog {
		condition = " AND action = 'planted'"
	}
	rows, err := w.db.Writer().QueryContext(w.t.Context(), "SELECT "+r.age+" FROM "+r.table+" WHERE "+owner+" = $1"+condition+" ORDER BY 1", org)
	w.must(err)
	defer func() { w.must(rows.Err()) }()
	defer rows.Close()
	var all []time.Time
	for rows.Next() {
		if kind == retention.FailedJobs {
			var at engine.JobTime
			w.must(rows.Scan(&at))
			all = append(all, time.Time(at))
			continue
		}
		var at engine.Time
		w.must(rows.Scan(&at))
		all = append(all, at.Time())
	}
	return all
}

// ages returns times around the end of a period: some records are due, some are not.
func ages(now time.Time, days, number int) []time.Time {
	end := now.AddDate(0, 0, -days)
	all := []time.Time{end.Add(-time.Microsecond), end, end.Add(time.Microsecond), now, now.Add(-time.Hour)}
	for i := range number {
		all = append(all, end.Add(time.Duration(i-number*2/3)*time.Hour))
	}
	return all
}

// TestDueRecordsAreDeletedAndNoOthers plants records of every age in two organizations. Runs
// delete those that are older than the period, all of them, and only after the notice, except
// for kinds without a notice. An organization that keeps everything loses nothing.
func TestDueRecordsAreDeletedAndNoOthers(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		w.run()
		runAt := start.Add(retention.Notice)
		planted := map[retention.Name][]time.Time{}
		for _, k := range retention.Kinds() {
			planted[k.Name] = ages(runAt, k.Default, 30)
			if k.Name == retention.AuditLog {
				planted[k.Name] = ages(runAt, k.Default, 650) // several batches
			}
			if k.Name == retention.FailedJobs { // SQLite stores their milliseconds
				for i, at := range planted[k.Name] {
					planted[k.Name][i] = at.Truncate(time.Millisecond)
				}
			}
			w.plant(w.org.ID, k.Name, planted[k.Name]...)
			w.plant(w.other.ID, k.Name, planted[k.Name]...)
			if k.MayBeForever {
				forever := retention.Forever
				_, err := w.settings().Set(t.Context(), access.ActorOf(access.Operator), w.other.ID, retention.Change{Kind: k.Name, Days: &forever})
				w.must(err)
			}
		}
		w.now = runAt.Add(-time.Second)
		w.run()
		for _, k := range retention.Kinds() {
			if got := len(w.left(w.org.ID, k.Name)); (got == len(planted[k.Name])) == k.AtOnce {
				t.Errorf("%s: %d of %d records are left before the end of the notice", k.Name, got, len(planted[k.Name]))
			}
		}
		w.now = runAt
		w.run()
		for _, k := range retention.Kinds() {
			want := slices.DeleteFunc(slices.Clone(planted[k.Name]), func(at time.Time) bool { return at.Before(runAt.AddDate(0, 0, -k.Default)) })
			slices.SortFunc(want, time.Time.Compare)
			if diff := cmp.Diff(want, w.left(w.org.ID, k.Name)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", k.Name, diff)
			}
			if got := len(w.left(w.other.ID, k.Name)); k.MayBeForever && got != len(planted[k.Name]) {
				t.Errorf("%s: %d of %d records of another organization are left", k.Name, got, len(planted[k.Name]))
			}
		}
		if slices.Max(w.batches) > 200 || len(w.sleeps) < 3 || slices.Min(w.sleeps) < 20*time.Millisecond {
			t.Errorf("batches of %v rows with the pauses %v", w.batches, w.sleeps)
		}
		w.checkNoted(runAt)
	})
}

// checkNoted checks what a run leaves: its time and the number of deleted records, and one line
// in the audit log. The run before deleted records of the kinds without a notice only.
func (w *world) checkNoted(ranAt time.Time) {
	w.t.Helper()
	periods, err := w.settings().Periods(w.t.Context(), w.org.ID)
	w.must(err)
	for _, p := range periods {
		if p.Deleted == 0 || !p.RanAt.Equal(ranAt) || !p.SeenAt.Equal(start) {
			w.t.Errorf("%s: %+v", p.Name, p.State)
		}
	}
	events, err := w.db.Audit().FindAudit(w.t.Context(), w.org.ID, access.AuditFilter{Action: "org.retention_applied", Limit: 10})
	w.must(err)
	if len(events) != 2 || events[0].ActorKind != "system" || !strings.Contains(events[0].Detail, `"membership_log":`) || strings.Contains(events[1].Detail, "log") {
		w.t.Errorf("the audit log has %+v", events)
	}
}

// TestChangedPeriodAppliesAfterADay shortens a period, corrects it in time, and shortens it again.
func TestChangedPeriodAppliesAfterADay(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		w.plant(w.org.ID, retention.MembershipLog, start.AddDate(0, 0, -100), start.AddDate(0, 0, -40), start)
		actor := access.ActorOf(access.Operator)
		set := func(days int) bool {
			changed, err := w.settings().Set(t.Context(), actor, w.org.ID, retention.Change{Kind: retention.MembershipLog, Days: &days})
			w.must(err)
			return changed
		}
		check := func(want int) {
			t.Helper()
			w.run()
			if got := len(w.left(w.org.ID, retention.MembershipLog)); got != want {
				t.Errorf("%v after the start %d records are left, want %d", w.now.Sub(start), got, want)
			}
		}
		if !set(30) || set(30) {
			t.Error("a period was not changed, or changed twice")
		}
		check(3)
		w.now = w.now.Add(retention.Reconsider - time.Second)
		check(3)
		set(90)
		w.now = w.now.Add(time.Second)
		check(3)
		w.now = w.now.Add(retention.Reconsider)
		check(2)
		events, err := db.Audit().FindAudit(t.Context(), w.org.ID, access.AuditFilter{Action: "org.retention_updated", Limit: 10})
		w.must(err)
		if len(events) != 2 || events[0].Detail != `{"membership_log":{"before":30,"after":90}}` {
			t.Errorf("the audit log has %+v", events)
		}
	})
}

// TestOptOutsOutliveContacts erases archived contacts of which one had opted out of all mail and
// one of a topic. Mail to these two is still refused, and mail to the third is not.
func TestOptOutsOutliveContacts(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		w.run()
		w.plant(w.org.ID, retention.ArchivedContacts, time.UnixMicro(1), time.UnixMicro(2), time.UnixMicro(3))
		for _, text := range []string{
			"UPDATE contacts SET unsubscribe_all = true WHERE org_id = $1 AND id = 'c00000'",
			"INSERT INTO contact_topics (org_id, contact_id, topic, subscription) VALUES ($1, 'c00001', 'news', 'OPT_OUT')",
		} {
			_, err := db.Writer().ExecContext(t.Context(), text, w.org.ID)
			w.must(err)
		}
		w.now = w.now.Add(retention.Notice)
		w.run()
		if left := w.left(w.org.ID, retention.ArchivedContacts); len(left) != 0 {
			t.Errorf("%d contacts are left", len(left))
		}
		erased := privacy.Erased{Hasher: hasher, Store: db.Privacy()}
		got, err := erased.Refusals(t.Context(), w.org.ID, []string{"p0@x.example", "p1@x.example", "p2@x.example"})
		w.must(err)
		want := map[string]privacy.Refusal{"p0@x.example": privacy.OptedOut, "p1@x.example": privacy.OptedOut}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("refused (-want +got):\n%s", diff)
		}
	})
}

// TestBounds checks that no period outside of the bounds is stored, and none of a call with
// another fault.
func TestBounds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storagetest.SQLite(t))
	for _, k := range retention.Kinds() {
		if k.Check(k.Default) != nil || k.Check(k.Min) != nil || k.Check(k.Max) != nil {
			t.Errorf("%s: the default or a bound is refused", k.Name)
		}
		for _, days := range []int{-1, k.Min - 1, k.Max + 1} {
			good := k.Min
			_, err := w.settings().Set(t.Context(), access.ActorOf(access.Operator), w.org.ID, retention.Change{Kind: k.Name, Days: &good}, retention.Change{Kind: k.Name, Days: &days})
			if e := core.AsError(err); e.Code != core.CodeValidationFailed || e.Fields[0].Field != string(k.Name) {
				t.Errorf("%s: %d days: %v", k.Name, days, err)
			}
		}
		if (k.Check(retention.Forever) == nil) != k.MayBeForever {
			t.Errorf("%s: no end", k.Name)
		}
	}
	if _, err := w.settings().Set(t.Context(), access.ActorOf(access.Operator), w.org.ID, retention.Change{Kind: "messages"}); core.AsError(err).Code != core.CodeValidationFailed {
		t.Errorf("an unknown kind: %v", err)
	}
	if states, err := w.settings().Store.States(t.Context(), w.org.ID); err != nil || len(states) != 0 {
		t.Errorf("stored %v, %v", states, err)
	}
}

// TestUndeliverableOutlivesMessages checks that an address stays undeliverable as long as its
// messages are stored, because their events would list it again.
func TestUndeliverableOutlivesMessages(t *testing.T) {
	t.Parallel()
	storagetest.Once(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		org := core.Org{ID: core.NewID(), Slug: core.NewID(), RetentionDays: 800}
		w.must(db.Orgs().InsertOrg(t.Context(), org))
		days := 365
		for _, id := range []string{org.ID, w.org.ID} {
			_, err := w.settings().Set(t.Context(), access.ActorOf(access.Operator), id, retention.Change{Kind: retention.Undeliverable, Days: &days})
			w.must(err)
			w.plant(id, retention.Undeliverable, start.AddDate(0, 0, -700), start.AddDate(0, 0, -810))
		}
		w.now = w.now.Add(retention.Reconsider)
		w.run()
		if a, b := len(w.left(org.ID, retention.Undeliverable)), len(w.left(w.org.ID, retention.Undeliverable)); a != 1 || b != 0 {
			t.Errorf("%d and %d addresses are left, want 1 and 0", a, b)
		}
	})
}

// TestFailedJobsOfNoOrganization plants failed jobs of the server, of an erased organization and
// of one with a longer period. A run deletes those of the first two that are older than seven
// days. It does not delete jobs that have not failed.
func TestFailedJobsOfNoOrganization(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		erased, days := core.NewID(), 30
		_, err := w.settings().Set(t.Context(), access.ActorOf(access.Operator), w.org.ID, retention.Change{Kind: retention.FailedJobs, Days: &days})
		w.must(err)
		var old []time.Time
		for i := range 250 {
			old = append(old, start.AddDate(0, 0, -8).Add(time.Duration(-i)*time.Minute))
		}
		young, owners := start.AddDate(0, 0, -6), map[string]int{"": 1, erased: 1, w.org.ID: 251, w.other.ID: 1}
		for owner := range owners {
			w.plant(owner, retention.FailedJobs, append(old, young)...)
		}
		_, err = db.Writer().ExecContext(t.Context(), "INSERT INTO river_job (args, kind, max_attempts, state, finalized_at) VALUES ('{}', 'done', 1, 'completed', $1)", db.JobParameter(old[0]))
		w.must(err)
		w.run()
		w.now = w.now.Add(retention.Reconsider)
		w.run()
		for owner, want := range owners {
			if got := len(w.left(owner, retention.FailedJobs)); got != want {
				t.Errorf("%d failed jobs of %q are left, want %d", got, owner, want)
			}
		}
		var done int
		w.must(db.Writer().QueryRowContext(t.Context(), "SELECT count(*) FROM river_job WHERE kind = 'done'").Scan(&done))
		if done != 1 {
			t.Errorf("%d jobs are left that have not failed", done)
		}
	})
}

// TestFigures checks the numbers that the dashboard shows.
func TestFigures(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		for _, k := range retention.Kinds() {
			oldest := start.AddDate(0, 0, -k.Default-3).Truncate(day)
			w.plant(w.org.ID, k.Name, start, oldest, oldest.Add(day))
		}
		periods, err := w.settings().Periods(t.Context(), w.org.ID)
		w.must(err)
		for _, p := range periods {
			oldest := start.AddDate(0, 0, -p.Default-3).Truncate(day)
			got, err := w.settings().Figures(t.Context(), w.org, p)
			w.must(err)
			if diff := cmp.Diff(retention.Figures{Rows: 3, Due: 2, Oldest: oldest}, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", p.Name, diff)
			}
			if got, err := w.settings().Figures(t.Context(), w.other, p); err != nil || got != (retention.Figures{}) {
				t.Errorf("%s: another organization has %+v, %v", p.Name, got, err)
			}
		}
	})
}
