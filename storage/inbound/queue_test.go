package inbound_test

import (
	"context"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine"
	inboundstore "github.com/mailhelm/mailhelm/storage/inbound"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// task returns a task that was received some seconds after start.
func task(seconds int) inbound.Task {
	org, id := core.NewID(), core.NewID()
	return inbound.Task{
		OrgID: org, StoreID: "files", RawKey: org + "/" + id + "/raw.eml",
		Envelope: inbound.Envelope{
			ID: id, Sender: "söder@example.com", RemoteIP: netip.MustParseAddr("2001:db8::1"), Helo: "mail.example.com", TLS: true,
			Judged:     &inbound.Verdicts{SPF: inbound.Pass},
			Routes:     []inbound.Route{{Kind: inbound.ToInbox, OrgID: org, TargetID: "t", Recipient: "A@x.test", LocalPart: "a", Domain: "x.test"}},
			ReceivedAt: start.Add(time.Duration(seconds) * time.Second), Size: 7,
		},
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func claim(t *testing.T, q inbound.Queue, now time.Time, limit int) []inbound.Task {
	t.Helper()
	found, err := q.Claim(t.Context(), now, now.Add(time.Minute), limit)
	must(t, err)
	slices.SortFunc(found, func(a, b inbound.Task) int { return a.Envelope.ReceivedAt.Compare(b.Envelope.ReceivedAt) })
	return found
}

// settle ends a task whose objects with the keys must be deleted. It reports false if the task was
// claimed again.
func settle(t *testing.T, q inbound.Queue, task inbound.Task, discard ...string) bool {
	t.Helper()
	task.Discard = discard
	again, err := q.Settle(t.Context(), []inbound.Task{task})
	must(t, err)
	return len(again) == 0
}

func TestTaskIsReadAsItWasAdded(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		q := inboundstore.NewQueue(db.DB)
		added := task(0)
		must(t, q.Add(t.Context(), []inbound.Task{added}))
		must(t, q.Add(t.Context(), []inbound.Task{added})) // again, after an unknown outcome
		added.Attempts = 1
		if found := claim(t, q, start, 10); len(found) != 1 || !reflect.DeepEqual(found[0], added) {
			t.Errorf("claimed %+v, want %+v", found, added)
		}
	})
}

// putOff puts a task off, and checks whether that shows that the attempt is undone.
func putOff(t *testing.T, q inboundstore.Queue, task inbound.Task, due time.Time, want bool) {
	t.Helper()
	if undone, err := q.PutOff(t.Context(), task, due); undone != want || err != nil {
		t.Errorf("PutOff = %t, %v, want %t", undone, err, want)
	}
}

// waiting returns the number of tasks in the queue.
func waiting(t *testing.T, db *storage.DB) int {
	t.Helper()
	var n int
	must(t, db.Reader().QueryRowContext(t.Context(), `SELECT count(*) FROM received_mail`).Scan(&n))
	return n
}

func TestLeases(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		q := inboundstore.NewQueue(db.DB)
		first, second, third := task(0), task(1), task(2)
		must(t, q.Add(t.Context(), []inbound.Task{third, first, second}))
		if n := waiting(t, db); n != 3 {
			t.Errorf("%d wait", n)
		}
		now := start.Add(time.Second)
		found := claim(t, q, now, 1)
		if len(found) != 1 || found[0].Envelope.ID != first.Envelope.ID {
			t.Fatalf("the oldest is not claimed first: %+v", found)
		}
		if rest := claim(t, q, now, 10); len(rest) != 1 || rest[0].Envelope.ID != second.Envelope.ID {
			t.Fatalf("claimed %+v, want the second: the first is leased, and the third not due", rest)
		}
		putOff(t, q, found[0], now.Add(time.Hour), true)
		rest := claim(t, q, now.Add(time.Minute), 10)
		if len(rest) != 2 {
			t.Errorf("after the lease %d are claimed, want the second and the third", len(rest))
		}
		for _, other := range rest {
			_ = settle(t, q, other)
		}
		again := claim(t, q, now.Add(time.Hour), 1)
		if len(again) != 1 || again[0].Attempts != 2 {
			t.Fatalf("claimed %+v, want the first again", again)
		}
		if done := settle(t, q, found[0]); done {
			t.Error("the process of the first claim ended the task")
		}
		putOff(t, q, found[0], now, false)
		if done := settle(t, q, again[0], "k1", "k2"); !done {
			t.Error("the process of the second claim did not mark the task")
		}
		putOff(t, q, again[0], now.Add(2*time.Hour), false) // a result is stored
		marked := claim(t, q, now.Add(2*time.Hour), 1)
		if len(marked) != 1 || !slices.Equal(marked[0].Discard, []string{"k1", "k2"}) {
			t.Fatalf("claimed %+v, want objects to delete", marked)
		}
		if done := settle(t, q, marked[0]); !done {
			t.Error("the task was not removed")
		}
		if n := waiting(t, db); n != 0 {
			t.Errorf("%d wait at last", n)
		}
	})
}

// TestTasksAreSettledTogether settles tasks of several organizations: some are removed, some have
// objects to delete, and some were claimed again or are gone. Those are returned, and the others are
// settled.
func TestTasksAreSettledTogether(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		q := inboundstore.NewQueue(db.DB)
		const n = 8
		added := make([]inbound.Task, n)
		for i := range added {
			added[i] = task(i)
		}
		added[1].OrgID, added[2].OrgID = added[0].OrgID, added[0].OrgID
		must(t, q.Add(t.Context(), added))
		now := start.Add(time.Minute)
		found := claim(t, q, now, n)
		if len(found) != n {
			t.Fatalf("claimed %d", len(found))
		}
		lost := []inbound.Task{found[2], found[5]}
		for _, slow := range lost {
			putOff(t, q, slow, now, true)
		}
		if again := claim(t, q, now, n); len(again) != len(lost) {
			t.Fatalf("claimed again %d", len(again))
		}
		for i := range found {
			if i >= 4 {
				found[i].Discard = []string{fmt.Sprint("key of ", i), "x"}
			}
		}
		unknown := task(0)
		unknown.Attempts = 1
		crossed := found[0] // the id of another organization
		crossed.OrgID = found[3].OrgID
		asked := slices.Concat(found, []inbound.Task{unknown, crossed, found[1], found[7]})
		again, err := q.Settle(t.Context(), asked)
		must(t, err)
		want := []inbound.Task{found[2], found[5], unknown, crossed, found[1], found[7]}
		if !reflect.DeepEqual(again, want) {
			t.Errorf("not settled: %+v, want %+v", again, want)
		}
		left := claim(t, q, now.Add(time.Hour), n)
		var got []string
		for _, one := range left {
			got = append(got, fmt.Sprint(one.Envelope.ID, one.Attempts, one.Discard))
		}
		var stay []string
		for i, attempts := range map[int]int{2: 3, 4: 2, 5: 3, 6: 2, 7: 2} {
			discard := found[i].Discard
			if i == 5 {
				discard = nil
			}
			stay = append(stay, fmt.Sprint(found[i].Envelope.ID, attempts, discard))
		}
		slices.Sort(got)
		slices.Sort(stay)
		if !slices.Equal(got, stay) {
			t.Errorf("left %q, want %q", got, stay)
		}
	})
}

// TestTaskOfTheProcessThatAcceptedIt adds a task that the process works on which accepted its
// message. Other processes claim it after its lease only, and then the first cannot end it.
func TestTaskOfTheProcessThatAcceptedIt(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		q := inboundstore.NewQueue(db.DB)
		ended, slow := task(0), task(0)
		for _, own := range []*inbound.Task{&ended, &slow} {
			own.LeasedUntil = start.Add(time.Minute)
			must(t, q.Add(t.Context(), []inbound.Task{*own}))
			own.Attempts = 1
		}
		if found := claim(t, q, start.Add(time.Minute-time.Microsecond), 10); len(found) != 0 {
			t.Errorf("claimed %+v during the lease", found)
		}
		if done := settle(t, q, ended); !done {
			t.Error("the task was not removed")
		}
		found := claim(t, q, start.Add(time.Minute), 10)
		if len(found) != 1 || found[0].Envelope.ID != slow.Envelope.ID || found[0].Attempts != 2 || !found[0].LeasedUntil.IsZero() {
			t.Fatalf("claimed %+v, want the other task", found)
		}
		if done := settle(t, q, slow); done {
			t.Error("the first process ended the task after its lease")
		}
	})
}

// TestProcessesShareTasks lets processes claim at the same time: no task is claimed twice.
func TestProcessesShareTasks(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		const n, processes = 300, 4
		q := inboundstore.NewQueue(db.DB)
		tasks := make([]inbound.Task, n)
		for i := range tasks {
			tasks[i] = task(0)
		}
		must(t, q.Add(t.Context(), tasks))
		var mu sync.Mutex
		claims := map[string]int{}
		var group sync.WaitGroup
		for range processes {
			group.Go(func() {
				if err := claimAll(t.Context(), q, func(id string) {
					mu.Lock()
					defer mu.Unlock()
					claims[id]++
				}); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		for id, times := range claims {
			if times != 1 {
				t.Errorf("task %s was claimed %d times", id, times)
			}
		}
		if len(claims) != n {
			t.Errorf("%d of %d tasks were claimed", len(claims), n)
		}
	})
}

// claimAll claims and settles tasks until there are none.
func claimAll(ctx context.Context, q inbound.Queue, claimed func(id string)) error {
	for {
		found, err := q.Claim(ctx, start, start.Add(time.Hour), 7)
		if err != nil || len(found) == 0 {
			return err
		}
		for _, task := range found {
			claimed(task.Envelope.ID)
			if again, err := q.Settle(ctx, []inbound.Task{task}); err != nil || len(again) > 0 {
				return fmt.Errorf("not settled: %v: %w", again, err)
			}
		}
	}
}

// TestQueueReadsIndexes checks the plans in SQLite. PostgreSQL reads a table without rows as a
// whole.
func TestQueueReadsIndexes(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	for name, want := range map[string]string{
		"claim received mail":   "SEARCH r USING INDEX received_mail_due (due_at<?)",
		"delete received mail":  "SEARCH received_mail USING INDEX sqlite_autoindex_received_mail_1 (org_id=? AND id=?)",
		"discard received mail": "SEARCH received_mail USING INDEX sqlite_autoindex_received_mail_1 (org_id=? AND id=?)",
	} {
		at := slices.IndexFunc(engine.Statements(), func(s *engine.Statement) bool { return s.Name() == name })
		if plan := storagetest.Plan(t, db, engine.Statements()[at]); !strings.Contains(plan, want) {
			t.Errorf("the plan of %s is\n%s\nwant %s", name, plan, want)
		}
	}
}

// TestSettleReadsTheKeyOnPostgres checks that tasks are found by the primary key in a table with
// many rows of which PostgreSQL has no statistics.
func TestSettleReadsTheKeyOnPostgres(t *testing.T) {
	t.Parallel()
	db := storagetest.Postgres(t)
	q := inboundstore.NewQueue(db.DB)
	tasks := make([]inbound.Task, 5000)
	org := core.NewID()
	for i := range tasks {
		tasks[i] = task(i)
		tasks[i].OrgID = org
	}
	must(t, q.Add(t.Context(), tasks))
	rows := `'[{"org":"` + org + `","id":"` + tasks[7].Envelope.ID + `","attempts":0,"discard":"[]"}]'`
	seen := 0
	for _, s := range engine.Statements() {
		if s.Name() != "delete received mail" && s.Name() != "discard received mail" {
			continue
		}
		seen++
		plan := storagetest.PostgresPlan(t, db.Reader(), strings.NewReplacer("$1", rows, "$2", "1").Replace(db.Dialect().Text(s.Text())))
		if !strings.Contains(plan, "Index Scan using received_mail_pkey") {
			t.Errorf("%s:\n%s", s.Name(), plan)
		}
	}
	if seen != 2 {
		t.Errorf("%d statements", seen)
	}
}
