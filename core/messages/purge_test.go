package messages_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// recordedOrg is an organization in a database, with a [messages.Messages] that also
// records statistics.
type recordedOrg struct {
	t   *testing.T
	db  *storage.DB
	all *messages.Messages
	org core.Org
}

func newKept(t *testing.T, db *storage.DB, retentionDays int) recordedOrg {
	t.Helper()
	org := core.Org{ID: core.NewID(), Slug: core.NewID(), RetentionDays: retentionDays}
	if err := db.Orgs().InsertOrg(t.Context(), org); err != nil {
		t.Fatal(err)
	}
	clock := func() time.Time { return now }
	figures := reports.New(reports.Config{Store: db.Reports(), Clock: clock})
	all := messages.New(messages.Config{Store: db.Messages(), Transactor: db, Clock: clock, Recorders: []messages.Recorder{figures}})
	return recordedOrg{t, db, all, org}
}

// yearlyEvents returns three events for each time: the Send, Bounce and Open of one
// message. Three recipients get the messages in turn.
func yearlyEvents(times ...time.Time) []messages.Event {
	var all []messages.Event
	for i, at := range times {
		for _, kind := range []messages.EventType{messages.Send, messages.Bounce, messages.Open} {
			e := messages.Event{
				ID: fmt.Sprintf("%s-%d-%s", kind, i, at.Format("060102150405.000000")), MessageID: at.Format("060102150405.000000"), Type: kind, OccurredAt: at,
				Recipient: fmt.Sprintf("p%d@x.example", i%3), Mail: messages.Mail{From: "a@b.example", To: []string{"copy@x.example"}, SentAt: at},
			}
			if kind == messages.Bounce {
				e.Bounced = &messages.BounceKind{Type: messages.PermanentBounce}
			}
			all = append(all, e)
		}
	}
	return all
}

func (k recordedOrg) record(events []messages.Event) {
	k.t.Helper()
	if _, err := k.all.Record(k.t.Context(), k.org.ID, events); err != nil {
		k.t.Fatal(err)
	}
}

// tables returns all messages and statistics of the organization that the stores return for
// a window of more than ten years.
func (k recordedOrg) tables() map[string]any {
	k.t.Helper()
	ctx, always := k.t.Context(), core.Window{From: now.AddDate(-10, 0, 0), To: now.AddDate(1, 0, 0)}
	must := func(v any, err error) any {
		k.t.Helper()
		if err != nil {
			k.t.Fatal(err)
		}
		return v
	}
	seen := map[string]any{}
	seen["days"] = must(k.db.Reports().DayCounts(ctx, k.org.ID, reports.Filter{Window: always}))
	seen["hours"] = must(k.db.Reports().HourCounts(ctx, k.org.ID, reports.Filter{Window: always}))
	scan, err := k.db.Reports().FromEvents(ctx, k.org.ID, reports.Filter{Window: always})
	slices.SortFunc(scan, func(a, b reports.GroupCounts) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) }) // in no order
	seen["scan"] = must(scan, err)
	seen["domains"] = must(k.db.Reports().FailingDomains(ctx, k.org.ID, always, 10))
	seen["messages"] = must(k.db.Messages().Messages(ctx, k.org.ID, messages.Filter{Window: always, Limit: 1000}))
	for _, to := range []string{"p0@x.example", "p1@x.example", "p2@x.example", "copy@x.example"} {
		seen[to] = must(k.db.Messages().CountMessages(ctx, k.org.ID, messages.Filter{Window: always, Recipient: to, Limit: 1000}))
	}
	return seen
}

// TestPurge checks that a purge deletes messages and statistics from before the oldest kept
// day, and nothing else. If old events arrive again, the next purge deletes them too.
func TestPurge(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		day := func(ago int) time.Time { return now.UTC().Truncate(24*time.Hour).AddDate(0, 0, -ago) }
		var old, readable []time.Time
		for i := range 1100 { // more rows of each table than one transaction deletes
			old = append(old, day(365).Add(-time.Duration(i+1)*time.Minute))
		}
		for i := range 5 {
			readable = append(readable, day(365).Add(time.Duration(i)*time.Hour), day(i))
		}
		gone, stays := yearlyEvents(old...), yearlyEvents(readable...)
		tidy, patient, untouched := newKept(t, db, 90), newKept(t, db, 800), newKept(t, db, 90)
		untouched.record(stays)
		for _, k := range []recordedOrg{tidy, patient} {
			k.record(gone)
			k.record(stays)
		}
		before := patient.tables()
		purge := messages.PurgeWorker(messages.PurgeConfig{
			From: []messages.Purger{db.Messages(), db.Reports()}, Orgs: db.Orgs().OrgIDs, Org: db.Orgs().Org,
			Clock: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler),
		})
		run := func() {
			if err := purge.Work(t.Context(), messages.PurgeArgs{}); err != nil {
				t.Fatal(err)
			}
		}
		run()
		want := untouched.tables()
		if diff := cmp.Diff(want, tidy.tables()); diff != "" {
			t.Errorf("not what would be there without the old mail (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(before, patient.tables()); diff != "" {
			t.Errorf("a longer retention is cut (-want +got):\n%s", diff)
		}
		if again, err := tidy.all.Record(t.Context(), tidy.org.ID, stays); err != nil || again.New != 0 {
			t.Errorf("what stays is not known any more: %+v, %v", again, err)
		}
		tidy.record(gone[:30])
		run()
		if diff := cmp.Diff(want, tidy.tables()); diff != "" {
			t.Errorf("old events came once more (-want +got):\n%s", diff)
		}
	})
}

// TestPurgeGoesInSteps checks that each call of Purge deletes a limited number of rows, and
// no row of another organization.
func TestPurgeGoesInSteps(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		one, other := newKept(t, db, 90), newKept(t, db, 90)
		mail := yearlyEvents(timeBefore(time.Hour), timeBefore(2*time.Hour), timeBefore(3*time.Hour), timeBefore(4*time.Hour))
		one.record(mail)
		other.record(mail)
		whole := other.tables()
		for name, step := range map[string]struct {
			purge func(context.Context, string, time.Time, int) (int, error)
			most  int
		}{
			"messages": {db.Messages().Purge, 4}, "reports": {db.Reports().Purge, 6},
		} {
			steps := 0
			for {
				n, err := step.purge(t.Context(), one.org.ID, now.AddDate(0, 0, 1), 2)
				if err != nil || n > step.most {
					t.Fatalf("%s: %d rows in a step of 2, %v", name, n, err)
				}
				if n == 0 {
					break
				}
				steps++
			}
			if steps < 2 {
				t.Errorf("%s: %d steps", name, steps)
			}
		}
		for name, rows := range one.tables() {
			if text := fmt.Sprint(rows); text != "[]" && text != "0" {
				t.Errorf("%s: %s is left", name, text)
			}
		}
		if diff := cmp.Diff(whole, other.tables()); diff != "" {
			t.Errorf("another organization's (-want +got):\n%s", diff)
		}
	})
}
