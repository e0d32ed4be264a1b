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

func TestLeases(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		q := inboundstore.NewQueue(db.DB)
		first, second, third := task(0), task(1), task(2)
		must(t, q.Add(t.Context(), []inbound.Task{third, first, second}))
		if n, oldest, err := q.Backlog(t.Context()); n != 3 || !oldest.Equal(start) || err != nil {
			t.Errorf("backlog %d, oldest %v, %v", n, oldest, err)
		}
		now := start.Add(time.Second)
		found := claim(t, q, now, 1)
		if len(found) != 1 || found[0].Envelope.ID != first.Envelope.ID {
			t.Fatalf("the oldest is not claimed first: %+v", found)
		}
		if rest := claim(t, q, now, 10); len(rest) != 1 || rest[0].Envelope.ID != second.Envelope.ID {
			t.Fatalf("claimed %+v, want the second: the first is leased, and the third not due", rest)
		}
		must(t, q.PutOff(t.Context(), found[0], now.Add(time.Hour)))
		rest := claim(t, q, now.Add(time.Minute), 10)
		if len(rest) != 2 {
			t.Errorf("after the lease %d are claimed, want the second and the third", len(rest))
		}
		for _, other := range rest {
			_, err := q.Settle(t.Context(), other, nil)
			must(t, err)
		}
		again := claim(t, q, now.Add(time.Hour), 1)
		if len(again) != 1 || again[0].Attempts != 2 {
			t.Fatalf("claimed %+v, want the first again", again)
		}
		if done, err := q.Settle(t.Context(), found[0], nil); done || err != nil {
			t.Errorf("the process of the first claim ended the task: %v, %v", done, err)
		}
		must(t, q.PutOff(t.Context(), found[0], now))
		if done, err := q.Settle(t.Context(), again[0], []string{"k1", "k2"}); !done || err != nil {
			t.Errorf("the process of the second claim did not mark the task: %v, %v", done, err)
		}
		marked := claim(t, q, now.Add(2*time.Hour), 1)
		if len(marked) != 1 || !slices.Equal(marked[0].Discard, []string{"k1", "k2"}) {
			t.Fatalf("claimed %+v, want objects to delete", marked)
		}
		if done, err := q.Settle(t.Context(), marked[0], nil); !done || err != nil {
			t.Errorf("the task was not removed: %v, %v", done, err)
		}
		if n, _, err := q.Backlog(t.Context()); n != 0 || err != nil {
			t.Errorf("backlog %d, %v", n, err)
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
		if done, err := q.Settle(t.Context(), ended, nil); !done || err != nil {
			t.Errorf("the task was not removed: %v, %v", done, err)
		}
		found := claim(t, q, start.Add(time.Minute), 10)
		if len(found) != 1 || found[0].Envelope.ID != slow.Envelope.ID || found[0].Attempts != 2 || !found[0].LeasedUntil.IsZero() {
			t.Fatalf("claimed %+v, want the other task", found)
		}
		if done, err := q.Settle(t.Context(), slow, nil); done || err != nil {
			t.Errorf("the first process ended the task after its lease: %v, %v", done, err)
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
			if done, err := q.Settle(ctx, task, nil); err != nil || !done {
				return fmt.Errorf("settled %v: %w", done, err)
			}
		}
	}
}

// TestClaimReadsTheIndexOfDueTasks checks the plan in SQLite. PostgreSQL reads a table without
// rows as a whole.
func TestClaimReadsTheIndexOfDueTasks(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	at := slices.IndexFunc(engine.Statements(), func(s *engine.Statement) bool { return s.Name() == "claim received mail" })
	const want = "SEARCH r USING INDEX received_mail_due (due_at<?)"
	if plan := storagetest.Plan(t, db, engine.Statements()[at]); !strings.Contains(plan, want) {
		t.Errorf("the plan is\n%s\nwant %s", plan, want)
	}
}
