package engine

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
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
	// jobRescue is the time after which a job of a killed process runs again, or the
	// job's own timeout if that is longer.
	jobRescue = 2 * time.Minute
	// jobSnooze is the delay of a job after the database refused its calls.
	jobSnooze = 15 * time.Second
	// jobCutOff is how long cancelled jobs have to return when the process stops.
	jobCutOff = 5 * time.Second
)

// JobsConfig configures how this process runs jobs.
type JobsConfig struct {
	// Runners is how many jobs this process runs at once; zero means 8.
	Runners int
	// Poll is the interval between looks for due jobs; zero means 250 ms.
	Poll time.Duration
}

// Jobs is the job queue in the database. Any process may enqueue jobs ([jobs.Queue]);
// processes that call Start run them. Those processes share the work, and one of them at
// a time enqueues the periodic jobs.
type Jobs struct {
	db       *DB
	config   JobsConfig
	inserter *river.Client[*sql.Tx]

	workers  *river.Workers
	periodic []*river.PeriodicJob
	failed   error // of AddWorker, returned by Start
	runner   *river.Client[*sql.Tx]
}

var _ jobs.Queue = (*Jobs)(nil)

// NewJobs returns the queue of the database. Migrate the schema before the first job is
// enqueued.
func (db *DB) NewJobs(c JobsConfig) (*Jobs, error) {
	c.Runners = cmp.Or(c.Runners, jobRunners)
	c.Poll = cmp.Or(c.Poll, jobPoll)
	inserter, err := river.NewClient(db.jobDriver(), &river.Config{Logger: db.riverLogger(), MaxAttempts: jobAttempts})
	if err != nil {
		return nil, fmt.Errorf("storage: jobs: %w", err)
	}
	return &Jobs{db: db, config: c, inserter: inserter, workers: river.NewWorkers()}, nil
}

// Enqueue adds a job: with the commit of the transaction of ctx, or at once if there is
// no transaction.
func (j *Jobs) Enqueue(ctx context.Context, args jobs.Args) error {
	_, err := j.enqueue(ctx, args, nil)
	return err
}

// EnqueueOnce is Enqueue unless a job that EnqueueOnce added with the same arguments is
// waiting or running; see [jobs.Queue]. It reports whether it added the job. Of two
// concurrent callers one adds it.
func (j *Jobs) EnqueueOnce(ctx context.Context, args jobs.Args) (bool, error) {
	return j.enqueue(ctx, args, &river.InsertOpts{UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: []rivertype.JobState{
		rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRunning, rivertype.JobStateScheduled,
	}}})
}

// enqueue reports whether it added the job. It reports false for a duplicate.
func (j *Jobs) enqueue(ctx context.Context, args jobs.Args, opts *river.InsertOpts) (bool, error) {
	var left *rivertype.JobInsertResult
	err := j.db.InTx(ctx, func(ctx context.Context) error {
		var err error
		left, err = j.inserter.InsertTx(ctx, j.db.transaction(ctx).tx, args, opts)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("storage: enqueue %s: %w", args.Kind(), j.db.cause(ctx, err))
	}
	return !left.UniqueSkippedAsDuplicate, nil
}

// Start runs jobs until Stop is called. ctx bounds only the start.
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

// Stop takes no more jobs and waits for the running ones. If ctx ends first, it cancels
// them; they run again later.
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
