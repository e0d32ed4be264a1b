package engine_test

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

type letter struct{ To string }

func (letter) Kind() string { return "letter" }

// lines is a log output from which a test receives the lines. It drops lines that the test
// does not receive, because a blocked log would keep the jobs from stopping.
type lines chan string

func (l lines) Write(line []byte) (int, error) {
	select {
	case l <- string(line):
	default:
	}
	return len(line), nil
}

func TestFailedJobsAreLoggedWithoutTheirArguments(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	enginetest.CopySQLite(t, dir)
	log := make(lines, 100)
	db, err := engine.Open(t.Context(), engine.Config{Dir: dir, Logger: slog.New(slog.NewJSONHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	queue, err := db.NewJobs(engine.JobsConfig{Poll: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	engine.AddWorker(queue, jobs.Worker[letter]{Work: func(_ context.Context, args letter) error {
		if args.To == "panic@example.com" {
			panic("cannot write to " + args.To)
		}
		return errors.New("by test")
	}})
	if err := queue.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = queue.Stop(context.Background()) })

	for to, want := range map[string]string{"error@example.com": "job failed", "panic@example.com": "job panicked"} {
		if err := queue.Enqueue(t.Context(), letter{To: to}); err != nil {
			t.Fatal(err)
		}
		line := <-log
		for !strings.Contains(line, want) { // skips log lines about further failures of the previous job
			line = <-log
		}
		if !strings.Contains(line, `"kind":"letter"`) || !strings.Contains(line, `"job_id":`) || strings.Contains(line, "example.com") {
			t.Errorf("logged %s", line)
		}
	}
}

// TestJobTimeout checks that a job is cancelled when it runs longer than its own Timeout.
func TestJobTimeout(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, db *database) {
		queue, err := db.NewJobs(engine.JobsConfig{Poll: 20 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 20)
		engine.AddWorker(queue, jobs.Worker[letter]{
			Timeout: 30 * time.Millisecond,
			Work: func(ctx context.Context, _ letter) error {
				<-ctx.Done()
				ended <- ctx.Err()
				return nil
			},
		})
		if err := queue.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := queue.Enqueue(t.Context(), letter{}); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the job ended with %v", err)
		}
		if err := queue.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestEnqueueOnce checks that a repeated call with the same arguments adds no second job
// while the first one waits or runs. After the job has ended, a call adds another.
func TestEnqueueOnce(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, db *database) {
		queue, err := db.NewJobs(engine.JobsConfig{Poll: 20 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		running, end := make(chan string, 20), make(chan struct{})
		engine.AddWorker(queue, jobs.Worker[letter]{Work: func(_ context.Context, args letter) error {
			running <- args.To
			<-end
			return nil
		}})
		once := func(ctx context.Context, to string) bool {
			enqueued, err := queue.EnqueueOnce(ctx, letter{to})
			if err != nil {
				t.Fatal(err)
			}
			return enqueued
		}
		if !once(t.Context(), "ann") || once(t.Context(), "ann") || !once(t.Context(), "bob") {
			t.Error("a job that waits is there twice, or two are taken for one")
		}
		if err := queue.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = queue.Stop(context.Background()) })
		<-running
		<-running
		err = db.InTx(t.Context(), func(ctx context.Context) error {
			if once(ctx, "ann") {
				t.Error("a job that runs is there twice")
			}
			return queue.Enqueue(ctx, letter{"ann"}) // without a check for duplicates
		})
		if err != nil {
			t.Fatal(err)
		}
		if again := <-running; again != "ann" {
			t.Errorf("%s runs", again)
		}
		close(end)
		// The queue marks a job as completed a little after its function has returned.
		// Until then EnqueueOnce adds nothing, so the call is repeated.
		for !once(t.Context(), "ann") {
			runtime.Gosched()
		}
		if again := <-running; again != "ann" || len(running) > 0 {
			t.Errorf("%s runs, and %d more", again, len(running))
		}
	})
}
