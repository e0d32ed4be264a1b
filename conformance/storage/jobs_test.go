package storage_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

type greet struct{ Name string }

func (greet) Kind() string { return "greet" }

type tidy struct{}

func (tidy) Kind() string { return "tidy" }

func newJobs(t *testing.T, db *storage.DB) *engine.Jobs {
	t.Helper()
	queue, err := db.NewJobs(engine.JobsConfig{Poll: 20 * time.Millisecond})
	must(t, err)
	return queue
}

// run starts the job queue and stops it when the test ends.
func run(t *testing.T, queue *engine.Jobs) {
	t.Helper()
	must(t, queue.Start(t.Context()))
	t.Cleanup(func() {
		if err := queue.Stop(context.Background()); err != nil {
			t.Errorf("Stop: %v", err)
		}
	})
}

func TestJobsRunWithTheCommitAlone(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		org, queue, failed := newOrg(t, db), newJobs(t, db), errors.New("by test")
		worked := make(chan string, 10)
		engine.AddWorker(queue, jobs.Worker[greet]{Work: func(ctx context.Context, args greet) error {
			// The worker reads a contact that was committed together with the job. It then
			// writes a contact in a transaction of its own.
			if _, err := db.Contacts().ContactByEmail(ctx, org, args.Name); err != nil {
				worked <- err.Error()
				return nil
			}
			worked <- args.Name
			return db.InTx(ctx, func(ctx context.Context) error {
				return db.Contacts().InsertContact(ctx, org, newContact("greeted-"+args.Name))
			})
		}})
		run(t, queue)

		// The queue polls while this transaction is open. The job must not run, because the
		// transaction rolls back.
		err := db.InTx(t.Context(), func(ctx context.Context) error {
			must(t, queue.Enqueue(ctx, greet{Name: "undone@x"}))
			return failed
		})
		if !errors.Is(err, failed) {
			t.Fatal(err)
		}
		must(t, db.InTx(t.Context(), func(ctx context.Context) error {
			if err := db.Contacts().InsertContact(ctx, org, newContact("done@x")); err != nil {
				return err
			}
			return queue.Enqueue(ctx, greet{Name: "done@x"})
		}))
		must(t, db.Contacts().InsertContact(t.Context(), org, newContact("alone@x")))
		must(t, queue.Enqueue(t.Context(), greet{Name: "alone@x"}))

		seen := map[string]bool{<-worked: true, <-worked: true}
		if !seen["done@x"] || !seen["alone@x"] {
			t.Errorf("worked %v", seen)
		}
		must(t, queue.Stop(t.Context()))
		if len(worked) != 0 {
			t.Errorf("also worked %q", <-worked)
		}
	})
}

func TestAFailedJobRunsAgain(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		queue := newJobs(t, db)
		runs := make(chan int, 10)
		count := 0 // count needs no lock: two runs of the same job never overlap
		engine.AddWorker(queue, jobs.Worker[greet]{Work: func(context.Context, greet) error {
			count++
			runs <- count
			if count == 1 {
				return errors.New("by test")
			}
			return nil
		}})
		run(t, queue)
		must(t, queue.Enqueue(t.Context(), greet{Name: "again"}))
		if first, second := <-runs, <-runs; first != 1 || second != 2 {
			t.Errorf("runs %d, %d", first, second)
		}
	})
}

func TestPeriodicJobsRunAtStart(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		queue := newJobs(t, db)
		worked := make(chan struct{}, 10)
		engine.AddWorker(queue, jobs.Worker[tidy]{
			Every: time.Hour, Timeout: time.Second,
			Work: func(ctx context.Context, _ tidy) error {
				if _, ok := ctx.Deadline(); !ok {
					t.Error("the job has no deadline")
				}
				worked <- struct{}{}
				return nil
			},
		})
		run(t, queue)
		<-worked
	})
}

// TestJobsSurviveARestart checks that a job added while no worker runs is run by the next
// queue that starts.
func TestJobsSurviveARestart(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		must(t, newJobs(t, db).Enqueue(t.Context(), greet{Name: "early"}))
		worked := make(chan string, 1)
		queue := newJobs(t, db)
		engine.AddWorker(queue, jobs.Worker[greet]{Work: func(_ context.Context, args greet) error {
			worked <- args.Name
			return nil
		}})
		run(t, queue)
		if name := <-worked; name != "early" {
			t.Errorf("worked %q", name)
		}
	})
}

func TestStopWaitsAndThenCutsOff(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		queue := newJobs(t, db)
		begun, ended := make(chan struct{}), make(chan error, 1)
		engine.AddWorker(queue, jobs.Worker[greet]{Work: func(ctx context.Context, _ greet) error {
			close(begun)
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return ctx.Err()
		}})
		must(t, queue.Start(t.Context()))
		must(t, queue.Enqueue(t.Context(), greet{}))
		<-begun
		patience, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if err := queue.Stop(patience); err != nil {
			t.Errorf("Stop: %v", err)
		}
		if len(ended) != 1 {
			t.Error("Stop returned before the job ended")
		}
	})
}

func TestStartRefusesAKindThatComesTwice(t *testing.T) {
	t.Parallel()
	queue := newJobs(t, storagetest.SQLite(t))
	for range 2 {
		engine.AddWorker(queue, jobs.Worker[tidy]{Work: func(context.Context, tidy) error { return nil }})
	}
	if err := queue.Start(t.Context()); err == nil {
		t.Error("Start took two workers of a kind")
	}
}
