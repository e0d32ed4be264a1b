package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/riverqueue/river/rivertype"
)

// putOff is the delay before a job runs again after the database refused its calls.
const putOff = 15 * time.Second

// TestAJobIsPutOffDuringAnOutage checks that a job runs again 15 seconds after the database
// refused its calls or had no free connection. Such a run must not count as an attempt. The
// job completes when the database works again.
func TestAJobIsPutOffDuringAnOutage(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, db *database) {
		queue, err := db.NewJobs(engine.JobsConfig{Poll: 20 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		outages := []error{
			core.TemporarilyUnavailable(errors.New("connection refused")), core.Overloaded(time.Second),
			core.TemporarilyUnavailable(errors.New("disk full")), nil,
		}
		runs, ran := 0, make(chan string, len(outages))
		engine.AddWorker(queue, jobs.Worker[letter]{Work: func(_ context.Context, args letter) error {
			err := outages[runs]
			runs++
			ran <- args.To
			return err
		}})
		if err := queue.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = queue.Stop(context.Background()) })
		if err := queue.Enqueue(t.Context(), letter{"ann"}); err != nil {
			t.Fatal(err)
		}
		for run, outage := range outages {
			if to := <-ran; to != "ann" {
				t.Fatalf("run %d has the arguments %q", run, to)
			}
			if outage == nil {
				break
			}
			job := awaitJob(t, queue, rivertype.JobStateScheduled)
			if wait := job.ScheduledAt.Sub(*job.AttemptedAt); job.Attempt != 0 || len(job.Errors) != 0 || wait < putOff || wait > 4*putOff {
				t.Errorf("after run %d: attempt %d of %d, errors %v, runs again after %v", run, job.Attempt, job.MaxAttempts, job.Errors, wait)
			}
			if err := engine.MakeDue(t.Context(), queue, job.ID); err != nil {
				t.Fatal(err)
			}
		}
		if job := awaitJob(t, queue, rivertype.JobStateCompleted); job.Attempt != 1 || job.MaxAttempts != 10 {
			t.Errorf("done at attempt %d of %d", job.Attempt, job.MaxAttempts)
		}
	})
}

// awaitJob waits until the only job of the queue has the given state, and returns it.
func awaitJob(t *testing.T, queue *engine.Jobs, state rivertype.JobState) *rivertype.JobRow {
	t.Helper()
	for {
		rows, err := engine.JobRows(t.Context(), queue)
		if err != nil || len(rows) != 1 {
			t.Fatalf("%d jobs, %v", len(rows), err)
		}
		if rows[0].State == state {
			return rows[0]
		}
	}
}
