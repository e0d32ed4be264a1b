package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// sweep is the argument of a periodic job, which has a single attempt.
type sweep struct{}

func (sweep) Kind() string { return "sweep" }

// endAs returns the work of a job that ends as its argument says. A job "block" first closes
// the channel, and ends with its context.
func endAs(blocked chan<- struct{}) func(ctx context.Context, args letter) error {
	return func(ctx context.Context, args letter) error {
		switch args.To {
		case "fail":
			return errors.New("by test")
		case "panic":
			panic("by test")
		case "outage":
			return core.TemporarilyUnavailable(errors.New("by test"))
		case "block":
			close(blocked)
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	}
}

// TestOutcomesOfJobsAreObserved checks the outcome of each kind of run: without an error, with
// one, with a panic, during an outage of the database, at the last attempt, and at the stop.
func TestOutcomesOfJobsAreObserved(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, db *database) {
		outcomes := make(chan string, 100)
		queue, err := db.NewJobs(engine.JobsConfig{Poll: 20 * time.Millisecond, Observe: func(kind string, outcome engine.JobOutcome, took time.Duration) {
			if took < 0 {
				t.Errorf("%s took %v", kind, took)
			}
			outcomes <- fmt.Sprint(kind, " ", outcome)
		}})
		if err != nil {
			t.Fatal(err)
		}
		blocked := make(chan struct{})
		engine.AddWorker(queue, jobs.Worker[letter]{Work: endAs(blocked)})
		engine.AddWorker(queue, jobs.Worker[sweep]{Every: time.Hour, Work: func(context.Context, sweep) error { return errors.New("by test") }})
		if kinds := queue.Kinds(); !slices.Equal(kinds, []string{"letter", "sweep"}) {
			t.Errorf("the kinds are %v", kinds)
		}
		if err := queue.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if first := <-outcomes; first != "sweep discarded" {
			t.Errorf("a job that fails at its only attempt: %s", first)
		}
		for _, tc := range [][2]string{{"ok", "done"}, {"fail", "failed"}, {"panic", "failed"}, {"outage", "postponed"}} {
			if err := queue.Enqueue(t.Context(), letter{tc[0]}); err != nil {
				t.Fatal(err)
			}
			want := "letter " + tc[1]
			got := <-outcomes
			for got == "letter failed" && want != got { // a failed job runs again
				got = <-outcomes
			}
			if got != want {
				t.Errorf("%s: %s, want %s", tc[0], got, want)
			}
		}
		if err := queue.Enqueue(t.Context(), letter{"block"}); err != nil {
			t.Fatal(err)
		}
		<-blocked
		ended, end := context.WithCancel(t.Context())
		end()
		if err := queue.Stop(ended); err != nil {
			t.Error(err)
		}
		close(outcomes)
		last := ""
		for o := range outcomes {
			last = o
		}
		if last != "letter interrupted" {
			t.Errorf("at the stop: %s", last)
		}
	})
}
