package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// AddWorker registers the function that runs jobs with arguments of type T. It must be
// called before Start, once for each kind of job. Start returns an error if a kind was
// registered twice.
func AddWorker[T jobs.Args](j *Jobs, w jobs.Worker[T]) {
	if err := river.AddWorkerSafely(j.workers, &worker[T]{worker: w, jobs: j}); err != nil {
		j.failed = errors.Join(j.failed, fmt.Errorf("storage: jobs: %w", err))
	}
	var args T
	j.kinds = append(j.kinds, args.Kind())
	if w.Every == 0 {
		return
	}
	zero := func() (river.JobArgs, *river.InsertOpts) {
		return args, &river.InsertOpts{MaxAttempts: 1} // no retry, because the job runs again in the next period
	}
	j.periodic = append(j.periodic,
		river.NewPeriodicJob(river.PeriodicInterval(w.Every), zero, &river.PeriodicJobOpts{RunOnStart: true}))
}

// worker implements River's worker interface with a jobs.Worker.
type worker[T jobs.Args] struct {
	river.WorkerDefaults[T]
	worker jobs.Worker[T]
	jobs   *Jobs
}

// Work runs the job on the connections that are reserved for jobs. If the database refuses
// its calls, the job runs again after 15 s, and the run does not count as an attempt.
func (w *worker[T]) Work(ctx context.Context, job *river.Job[T]) error {
	clock := w.jobs.db.clock
	began := clock()
	outcome := failedOutcome(job.JobRow) // of a run that panics
	defer func() { w.jobs.config.Observe(job.Kind, outcome, clock().Sub(began)) }()
	err := w.work(ctx, job)
	switch {
	case err == nil:
		outcome = JobDone
	case errors.Is(ctx.Err(), context.Canceled):
		outcome = JobInterrupted
	case isPostponed(err):
		outcome = JobPostponed
	}
	return err
}

// failedOutcome returns the outcome of a run that failed.
func failedOutcome(job *rivertype.JobRow) JobOutcome {
	if job.Attempt >= job.MaxAttempts {
		return JobDiscarded
	}
	return JobFailed
}

// isPostponed reports whether the error tells the queue to run the job again.
func isPostponed(err error) bool {
	_, postponed := errors.AsType[*river.JobSnoozeError](err)
	return postponed
}

// work runs the job and returns the error for the queue.
func (w *worker[T]) work(ctx context.Context, job *river.Job[T]) error {
	err := w.worker.Work(core.WithLane(ctx, core.Background), job.Args)
	if err == nil || ctx.Err() != nil {
		return err
	}
	switch core.AsError(err).Code {
	case core.CodeTemporarilyUnavailable, core.CodeOverloaded:
		w.jobs.db.logger.LogAttrs(ctx, slog.LevelWarn, "job postponed", jobAttrs(job.JobRow, slog.String("error", err.Error()))...)
		return errors.Join(river.JobSnooze(jobSnooze), err)
	}
	return err
}

func (w *worker[T]) Timeout(*river.Job[T]) time.Duration {
	return cmp.Or(w.worker.Timeout, jobTimeout)
}

// jobFailures logs the kind and the error of failed jobs. It omits the job's arguments,
// which may contain email addresses.
type jobFailures struct{ logger *slog.Logger }

func (f jobFailures) HandleError(ctx context.Context, job *rivertype.JobRow, err error) *river.ErrorHandlerResult {
	f.logger.LogAttrs(ctx, slog.LevelError, "job failed", jobAttrs(job, slog.String("error", err.Error()))...)
	return nil
}

func (f jobFailures) HandlePanic(ctx context.Context, job *rivertype.JobRow, value any, trace string) *river.ErrorHandlerResult {
	f.logger.LogAttrs(ctx, slog.LevelError, "job panicked",
		jobAttrs(job, slog.String("error", core.PanicCause(value)), slog.String("trace", trace))...)
	return nil
}

func jobAttrs(job *rivertype.JobRow, more ...slog.Attr) []slog.Attr {
	return append([]slog.Attr{
		slog.String("kind", job.Kind), slog.Int64("job_id", job.ID),
		slog.Int("attempt", job.Attempt), slog.Int("max_attempts", job.MaxAttempts),
	}, more...)
}
