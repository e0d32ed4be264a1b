// Package monitoring reads the figures of the whole database that the metrics of a server
// show: the work that waits in each queue, the jobs by kind and state, and the results of
// syncs. It belongs to no domain and reads the tables of several domains, because only the
// operator sees these figures.
//
// The statements read no row of a large table that waits for nothing. Each count ends at a
// limit, so that a long queue does not make the figures slow.
package monitoring

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/storage/engine"
)

const (
	// limitOfParent is the largest number of items that are counted of one endpoint, domain
	// or workflow.
	limitOfParent = 1_000
	// limitOfQueue is the largest number of items that are counted of other queues, and of
	// jobs in one state.
	limitOfQueue = 10_000
)

// CountedInFull is the number of waiting items below which a count is exact. Larger counts may
// have ended at a limit.
const CountedInFull = limitOfParent

// Store reads figures of the whole database.
type Store struct{ db *engine.DB }

// New returns the store on the database.
func New(db *engine.DB) Store { return Store{db} }

// Backlog is the work that waits in a queue.
type Backlog struct {
	Queue   string
	Waiting int
	// Oldest is the time since which the oldest item waits, nil if no item waits.
	Oldest *time.Time
}

// Backlogs returns the backlog of each queue of [Queues], in that order. Work that is due
// later does not count.
func (s Store) Backlogs(ctx context.Context, now time.Time) ([]Backlog, error) {
	type row struct {
		Queue   string       `db:"queue"`
		Waiting int          `db:"waiting"`
		Oldest  *engine.Time `db:"oldest"`
	}
	rows, err := engine.List[row](ctx, s.db, backlogs, engine.At(now), limitOfQueue, limitOfParent)
	if err != nil {
		return nil, err
	}
	byQueue := make(map[string]Backlog, len(rows))
	for _, r := range rows {
		byQueue[r.Queue] = Backlog{Queue: r.Queue, Waiting: r.Waiting, Oldest: engine.OptionalTime(r.Oldest)}
	}
	all := make([]Backlog, len(queues))
	for i, q := range queues {
		all[i] = byQueue[q.name]
	}
	return all, nil
}

// JobStates are the states of jobs that [Store.Jobs] counts: available jobs are due and wait
// for a worker, scheduled ones are due later, retryable ones failed and run again, discarded
// ones failed at their last attempt. core/retention says for how long discarded jobs are kept.
func JobStates() []string {
	return []string{"available", "scheduled", "retryable", "running", "discarded"}
}

// JobCount is the number of jobs of one kind in one state.
type JobCount struct {
	Kind, State string
	Jobs        int
	// Oldest is the earliest time at which one of the jobs was due.
	Oldest time.Time
}

// jobCounts takes the first jobs of each state from an index, which begins with the state.
var jobCounts = engine.Register("counts of jobs", `
	SELECT kind, state, count(*) AS jobs, min(scheduled_at) AS oldest FROM (`+jobsOfStates()+`) AS counted
	GROUP BY kind, state ORDER BY kind, state`)

func jobsOfStates() string {
	var each []string
	for _, state := range JobStates() {
		each = append(each, fmt.Sprintf(`
		SELECT * FROM (SELECT kind, CAST('%[1]s' AS text) AS state, scheduled_at FROM river_job
			WHERE state = '%[1]s' ORDER BY queue, priority, scheduled_at LIMIT $1) AS %[1]s`, state))
	}
	return strings.Join(each, " UNION ALL ")
}

// Jobs returns the number of jobs of each kind and state of [JobStates] that has any.
func (s Store) Jobs(ctx context.Context) ([]JobCount, error) {
	type row struct {
		Kind   string         `db:"kind"`
		State  string         `db:"state"`
		Jobs   int            `db:"jobs"`
		Oldest engine.JobTime `db:"oldest"`
	}
	count := func(r row) JobCount { return JobCount{r.Kind, r.State, r.Jobs, time.Time(r.Oldest)} }
	return engine.ListAs(ctx, s.db, count, jobCounts, limitOfQueue)
}

// failedJobs reads an index on state and finalized_at.
var failedJobs = engine.Register("counts of failed jobs", `
	SELECT kind, count(*) AS jobs FROM (
		SELECT kind FROM river_job WHERE state = 'discarded' AND finalized_at IS NOT NULL AND finalized_at >= $1 LIMIT $2) AS failed
	GROUP BY kind ORDER BY kind`)

// FailedJobs returns by kind how many jobs have failed at their last attempt since a time.
func (s Store) FailedJobs(ctx context.Context, since time.Time) (map[string]int, error) {
	type row struct {
		Kind string `db:"kind"`
		Jobs int    `db:"jobs"`
	}
	rows, err := engine.List[row](ctx, s.db, failedJobs, s.db.JobParameter(since), limitOfQueue)
	if err != nil {
		return nil, err
	}
	failed := make(map[string]int, len(rows))
	for _, r := range rows {
		failed[r.Kind] = r.Jobs
	}
	return failed, nil
}

// SyncCount has the results of the latest syncs of one kind.
type SyncCount struct {
	Kind string
	// Failing is the number of organizations whose latest sync failed.
	Failing int
	// Succeeded is the time of the latest successful sync of any organization, nil if there
	// was none.
	Succeeded *time.Time
}

var syncCounts = engine.Register("counts of syncs", `
	SELECT kind, CAST(sum(CASE WHEN failure <> '' THEN 1 ELSE 0 END) AS bigint) AS failing, max(succeeded_at) AS succeeded
	FROM sync_results GROUP BY kind ORDER BY kind`)

// Syncs returns the results of the latest syncs by kind. A kind without a sync is missing.
func (s Store) Syncs(ctx context.Context) ([]SyncCount, error) {
	type row struct {
		Kind      string       `db:"kind"`
		Failing   int          `db:"failing"`
		Succeeded *engine.Time `db:"succeeded"`
	}
	count := func(r row) SyncCount { return SyncCount{r.Kind, r.Failing, engine.OptionalTime(r.Succeeded)} }
	return engine.ListAs(ctx, s.db, count, syncCounts)
}
