package engine

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

const (
	jobRunners  = 8
	jobPoll     = 250 * time.Millisecond
	jobTimeout  = time.Minute
	jobAttempts = 10
	// jobRescue is the time after which a job is run again if its process was killed,
	// counted from the job's start. A job with a longer timeout is run again only after that
	// timeout.
	jobRescue = 2 * time.Minute
	// jobSnooze is the delay before a job runs again if the database refused a call of the
	// job.
	jobSnooze = 15 * time.Second
	// jobCutOff is the maximum time that cancelled jobs get to return when the process
	// stops.
	jobCutOff = 5 * time.Second
)

const (
	// FinishedJobsKept is how long finished and cancelled jobs are kept.
	FinishedJobsKept = 24 * time.Hour
	// FailedJobsKept is the longest time for which jobs are kept that failed at their last
	// attempt. The job of core/retention deletes them earlier.
	FailedJobsKept = 30 * 24 * time.Hour
)

// JobsConfig sets how many jobs this process runs at once, and how often it searches for
// due jobs.
type JobsConfig struct {
	// Runners is how many jobs this process runs at once; zero means 8.
	Runners int
	// Poll is the interval at which the queue is searched for due jobs; zero means 250 ms.
	Poll time.Duration
	// Observe is called after each run of a job, unless it is nil.
	Observe func(kind string, outcome JobOutcome, took time.Duration)
}

// JobOutcome is how a run of a job ended.
type JobOutcome string

// The outcomes of runs. A failed job runs again, a discarded one has failed at its last
// attempt. A postponed job runs again because the database refused its calls, an interrupted
// one because its process stops.
const (
	JobDone        JobOutcome = "done"
	JobFailed      JobOutcome = "failed"
	JobDiscarded   JobOutcome = "discarded"
	JobPostponed   JobOutcome = "postponed"
	JobInterrupted JobOutcome = "interrupted"
)

// JobOutcomes returns all outcomes of runs of jobs.
func JobOutcomes() []JobOutcome {
	return []JobOutcome{JobDone, JobFailed, JobDiscarded, JobPostponed, JobInterrupted}
}

// Jobs is the job queue in the database. Any process may enqueue jobs ([jobs.Queue]). The
// processes that call Start share the work. One of them at a time enqueues the periodic
// jobs.
type Jobs struct {
	db       *DB
	config   JobsConfig
	inserter *river.Client[*sql.Tx]

	workers  *river.Workers
	kinds    []string // of jobs that AddWorker has registered
	periodic []*river.PeriodicJob
	failed   error // of AddWorker, returned by Start
	runner   *river.Client[*sql.Tx]
}

var _ jobs.Queue = (*Jobs)(nil)

// NewJobs returns the job queue of the database. The schema must be migrated before the
// first job is enqueued.
func (db *DB) NewJobs(c JobsConfig) (*Jobs, error) {
	c.Runners = cmp.Or(c.Runners, jobRunners)
	c.Poll = cmp.Or(c.Poll, jobPoll)
	if c.Observe == nil {
		c.Observe = func(string, JobOutcome, time.Duration) {}
	}
	inserter, err := river.NewClient(db.jobDriver(), &river.Config{Logger: db.riverLogger(), MaxAttempts: jobAttempts})
	if err != nil {
		return nil, fmt.Errorf("storage: jobs: %w", err)
	}
	return &Jobs{db: db, config: c, inserter: inserter, workers: river.NewWorkers()}, nil
}

// Enqueue adds a job. Inside a transaction the job is added when the transaction commits.
func (j *Jobs) Enqueue(ctx context.Context, args jobs.Args) error {
	_, err := j.enqueue(ctx, args, nil)
	return err
}

// EnqueueOnce adds a job, unless a job that EnqueueOnce added with the same arguments is
// waiting or running. A failed job that waits for its retry does not count. EnqueueOnce
// returns whether it added the job. Of two concurrent callers only one adds it.
func (j *Jobs) EnqueueOnce(ctx context.Context, args jobs.Args) (bool, error) {
	return j.enqueue(ctx, args, &river.InsertOpts{UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: []rivertype.JobState{
		rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRunning, rivertype.JobStateScheduled,
	}}})
}

// enqueue adds a job and returns true. If opts forbids duplicates and the same job already
// waits or runs, it adds nothing and returns false.
func (j *Jobs) enqueue(ctx context.Context, args jobs.Args, opts *river.InsertOpts) (bool, error) {
	var inserted *rivertype.JobInsertResult
	err := j.db.InTx(ctx, func(ctx context.Context) error {
		var err error
		inserted, err = j.inserter.InsertTx(ctx, j.db.transaction(ctx).tx, args, opts)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("storage: enqueue %s: %w", args.Kind(), j.db.cause(ctx, err))
	}
	return !inserted.UniqueSkippedAsDuplicate, nil
}

// Kinds returns the kinds of jobs that AddWorker has registered.
func (j *Jobs) Kinds() []string { return slices.Clone(j.kinds) }

// Start starts running jobs, until Stop is called. ctx limits only the start itself.
func (j *Jobs) Start(ctx context.Context) error {
	if j.failed != nil {
		return j.failed
	}
	runner, err := river.NewClient(j.db.jobDriver(), &river.Config{
		Logger:               j.db.riverLogger(),
		ErrorHandler:         jobFailures{j.db.logger},
		FetchCooldown:        min(j.config.Poll, river.FetchCooldownDefault),
		FetchPollInterval:    j.config.Poll,
		JobTimeout:           jobTimeout,
		MaxAttempts:          jobAttempts,
		PeriodicJobs:         j.periodic,
		Queues:               map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: j.config.Runners}},
		RescueStuckJobsAfter: jobRescue,
		Workers:              j.workers,

		CompletedJobRetentionPeriod: FinishedJobsKept,
		CancelledJobRetentionPeriod: FinishedJobsKept,
		DiscardedJobRetentionPeriod: FailedJobsKept,
	})
	if err != nil {
		return fmt.Errorf("storage: jobs: %w", err)
	}
	if err := runner.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("storage: start jobs: %w", err)
	}
	j.runner = runner
	return nil
}

// Stop ends the processing of jobs: no further job begins, and Stop waits for the running
// ones. If ctx ends first, it cancels the running jobs; they run again after the next
// start.
func (j *Jobs) Stop(ctx context.Context) error {
	if j.runner == nil {
		return nil
	}
	err := j.runner.Stop(ctx)
	if err == nil {
		return nil
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), jobCutOff)
	defer cancel()
	if cutOffErr := j.runner.StopAndCancel(last); cutOffErr != nil {
		return fmt.Errorf("storage: stop jobs: %w", errors.Join(err, cutOffErr))
	}
	return nil
}
