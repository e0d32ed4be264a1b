package runner_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/runner"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	workflowstore "github.com/mailhelm/mailhelm/storage/workflows"
)

// fill adds contacts with runs that are due, without their events of before.
func (w *world) fill(b *testing.B, workflowID string, n int) {
	b.Helper()
	store := workflowstore.NewEntryStore(w.db.DB)
	for first := 0; first < n; first += 1000 {
		must(b, w.db.InTx(b.Context(), func(ctx context.Context) error {
			var runs []workflows.Run
			for i := first; i < min(first+1000, n); i++ {
				c := contacts.Contact{ID: core.NewID(), Email: fmt.Sprintf("c%d@example.com", i), Status: contacts.Active, Attributes: map[string]any{"plan": "pro"}, CreatedAt: start, UpdatedAt: start}
				if err := w.db.Contacts().InsertContact(ctx, w.org, c); err != nil {
					return err
				}
				runs = append(runs, workflows.Run{
					ID: core.NewID(), WorkflowID: workflowID, Version: 1, ContactID: c.ID, State: engine.Begin(w.Now()), Cause: workflows.BackEnrolled, StartedAt: w.Now(),
				})
			}
			_, err := store.Enroll(ctx, w.org, workflowID, runs, false)
			return err
		}))
	}
}

// work lets runners look until no run of the workflow is due. It returns the time that took.
func (w *world) work(b *testing.B, workflowID string, runners []*runner.Runner) time.Duration {
	b.Helper()
	began := time.Now()
	var group sync.WaitGroup
	for _, r := range runners {
		group.Go(func() {
			for {
				if err := r.Look(b.Context()); err != nil {
					b.Error(err)
				}
				r.Join()
				due, err := workflowstore.NewTimerStore(w.db.DB).Due(b.Context(), w.org, workflowID, w.Now(), 1)
				if err != nil {
					b.Error(err)
				}
				if len(due) == 0 {
					return
				}
			}
		})
	}
	group.Wait()
	return time.Since(began)
}

// BenchmarkSteps measures how many steps a second runs take that are all due at once: a wait that
// ends, an if, and the wait of the next day. One step of the three is a due timer.
func BenchmarkSteps(b *testing.B) {
	for name, open := range map[string]func(testing.TB) *storage.DB{"sqlite": storagetest.SQLite, "postgres": storagetest.Postgres} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/%d", name, workers), func(b *testing.B) {
				const contactsAtOnce = 20_000
				w := newWorld(b, open(b))
				id := w.launch(b, "enter on activity.signup\nwait 1 day\nif attr.plan = \"pro\" {\nwait 1 day\n}\nwait 1 day")
				w.fill(b, id, contactsAtOnce)
				runners := make([]*runner.Runner, workers)
				for i := range runners {
					runners[i] = w.newRunner()
				}
				w.work(b, id, runners) // the first wait begins
				var took time.Duration
				rounds := 0
				for b.Loop() {
					if rounds == 2 {
						b.Fatal("the workflow has two rounds of due timers: use -benchtime 1x or 2x")
					}
					rounds++
					w.set(w.Now().Add(day))
					took += w.work(b, id, runners)
				}
				b.ReportMetric(float64(contactsAtOnce*rounds)/took.Seconds(), "timers/s")
				b.ReportMetric(2*float64(contactsAtOnce*rounds)/took.Seconds(), "steps/s")
			})
		}
	}
}

// BenchmarkBareMoves measures the statements alone that store what BenchmarkSteps does: the states
// and three events of each run, 500 runs in a transaction.
func BenchmarkBareMoves(b *testing.B) {
	for name, open := range map[string]func(testing.TB) *storage.DB{"sqlite": storagetest.SQLite, "postgres": storagetest.Postgres} {
		b.Run(name, func(b *testing.B) {
			const runsAtOnce, inTransaction = 20_000, 500
			w := newWorld(b, open(b))
			id := w.launch(b, "enter on activity.signup\nwait 1 day")
			w.fill(b, id, runsAtOnce)
			timers := workflowstore.NewTimerStore(w.db.DB)
			due, err := timers.Due(b.Context(), w.org, id, w.Now(), runsAtOnce)
			must(b, err)
			var took time.Duration
			for b.Loop() {
				began := time.Now()
				for runs := range slices.Chunk(due, inTransaction) {
					var events []workflows.Event
					for i := range runs {
						runs[i].State.WakeAt = runs[i].State.WakeAt.Add(day)
						for range 3 {
							events = append(events, workflows.Event{RunID: runs[i].ID, Version: 1, Event: engine.Event{Path: "0", Type: engine.StepEntered, At: w.Now()}})
						}
					}
					must(b, w.db.InTx(b.Context(), func(ctx context.Context) error { return timers.Move(ctx, w.org, id, runs, events) }))
				}
				took += time.Since(began)
			}
			b.ReportMetric(float64(runsAtOnce*b.N)/took.Seconds(), "timers/s")
		})
	}
}

// BenchmarkExistingContacts measures how long the members of a segment take to enter.
func BenchmarkExistingContacts(b *testing.B) {
	for name, open := range map[string]func(testing.TB) *storage.DB{"sqlite": storagetest.SQLite, "postgres": storagetest.Postgres} {
		b.Run(name, func(b *testing.B) {
			const existing = 100_000
			w := newWorld(b, open(b))
			for first := 0; first < existing; first += 1000 {
				must(b, w.db.InTx(b.Context(), func(ctx context.Context) error {
					for i := first; i < first+1000; i++ {
						c := contacts.Contact{ID: core.NewID(), Email: fmt.Sprintf("c%d@example.com", i), Status: contacts.Active, Attributes: map[string]any{"plan": "pro"}, CreatedAt: start, UpdatedAt: start}
						if err := w.db.Contacts().InsertContact(ctx, w.org, c); err != nil {
							return err
						}
					}
					return nil
				}))
			}
			must(b, w.segments.Follow(b.Context(), w.org))
			w.work(b, w.launch(b, "enter on segment \"customers\"\nwait 1 day"), []*runner.Runner{w.runner})
			_, err := w.db.Writer().ExecContext(b.Context(), "ANALYZE") // as the database does within a minute
			must(b, err)
			for b.Loop() {
				id := w.launch(b, "enter on segment \"customers\"\nwait 1 day\nsend \"welcome\"")
				began := time.Now()
				for {
					must(b, w.runner.Look(b.Context()))
					w.runner.Join()
					found, err := workflowstore.New(w.db.DB).Workflow(b.Context(), w.org, id)
					must(b, err)
					if found.Backfill == nil {
						break
					}
				}
				b.ReportMetric(existing/time.Since(began).Seconds(), "contacts/s")
			}
		})
	}
}
