package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core/replay"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/monitoring"
)

// The limits of the shipped alert rules (prometheus-alerts.yml); a test compares them.
const (
	// lateJob is how long a job may be due.
	lateJob = 10 * time.Minute
	// failedJobs is how many jobs of a kind may fail at their last attempt within failedWithin.
	failedJobs   = 2
	failedWithin = time.Hour
	// staleSync is how old the last successful sync of a kind may be.
	staleSync = time.Hour
)

// lateness is how long the items of a queue may wait, and what to do if one waits longer.
type lateness struct {
	limit time.Duration
	next  string
}

var (
	late         = lateness{5 * time.Minute, "Read the log, which names failures, and check that webhooks answer."}
	lateMail     = lateness{time.Minute, "Read the log, which names each message that fails, and check the load of the machine and the scanners."}
	lateContacts = lateness{2 * time.Hour, "Read the log, which names the organization: its sending account refuses the consent of contacts or limits the rate, or the job fails."}
)

// latenessOf returns the limit of a queue. It returns false for recipients of broadcasts: a long
// broadcast is not late, and whether it makes progress takes two looks.
func latenessOf(queue string) (lateness, bool) {
	switch queue {
	case "broadcast_recipients":
		return lateness{}, false
	case "received_mail":
		return lateMail, true
	case "bulk_writes", "contact_imports", "contact_pushes":
		return lateContacts, true
	}
	return late, true
}

// backlog checks that processes work off what waits in the database: the queues, the jobs and
// the syncs with sending accounts. Findings are warnings, because a server that was stopped
// works them off.
func (e *examination) backlog(ctx context.Context, db *storage.DB) {
	next, err := e.workers(ctx, db)
	if err != nil {
		e.add("backlog", Warn, err.Error(), "")
		return
	}
	for _, examine := range []func(context.Context, monitoring.Store, string) error{e.queues, e.jobs, e.syncs} {
		if err := examine(ctx, db.Monitoring(), next); err != nil {
			e.add("backlog", Warn, err.Error(), "")
			return
		}
	}
}

// workers warns if processes run and none of them runs jobs. It returns what to do about late
// work if no process runs jobs, and "" if one does or if that is unknown: on SQLite, the only
// process stores no heartbeat.
func (e *examination) workers(ctx context.Context, db *storage.DB) (string, error) {
	if e.cfg.DatabaseURL == "" {
		return "", nil
	}
	beats, err := db.Processes().Beats(ctx)
	if err != nil {
		return "", err
	}
	const next = "No process runs background jobs: start 'mailhelm serve' with --role worker or --role all."
	callers, workers := 0, 0
	for _, beat := range beats {
		switch {
		case e.cfg.Clock().Sub(beat.At) > replay.Silence+clockFail: // the clocks may differ
		case beat.Role == string(config.API):
			callers++
		default:
			workers++
		}
	}
	switch {
	case workers > 0:
		e.add("workers", OK, fmt.Sprintf("processes that run background jobs: %d", workers), "")
		return "", nil
	case callers > 0:
		e.add("workers", Warn, "all running processes have --role api, so none runs background jobs: broadcasts, workflows, webhooks, syncs and imports wait",
			"Start 'mailhelm serve' with --role worker or --role all.")
	}
	return next, nil
}

// queues warns for each queue whose oldest item waits for too long. otherwise is the next step
// for all queues, "" for that of the queue.
func (e *examination) queues(ctx context.Context, store monitoring.Store, otherwise string) error {
	const name = "backlog"
	now := e.cfg.Clock()
	all, err := store.Backlogs(ctx, now)
	if err != nil {
		return err
	}
	lateQueues, waiting, oldest := 0, 0, ""
	var most time.Duration
	for _, b := range all {
		waiting += b.Waiting
		if b.Oldest == nil {
			continue
		}
		age := now.Sub(*b.Oldest)
		if age > most {
			most, oldest = age, fmt.Sprintf("; the oldest is in %s and waits for %s", b.Queue, rounded(age))
		}
		if limit, ok := latenessOf(b.Queue); ok && age > limit.limit {
			lateQueues++
			e.add(name, Warn, fmt.Sprintf("%s: the oldest of %s waits for %s, longer than %s", b.Queue, counted(b.Waiting, "item"), rounded(age), rounded(limit.limit)), nextStep(otherwise, limit.next))
		}
	}
	if lateQueues == 0 {
		e.add(name, OK, fmt.Sprintf("waiting items in %d queues: %d%s", len(all), waiting, oldest), "")
	}
	return nil
}

// jobs warns for each kind of job of which one is due for too long, or of which several failed.
func (e *examination) jobs(ctx context.Context, store monitoring.Store, otherwise string) error {
	const name = "jobs"
	now := e.cfg.Clock()
	counts, err := store.Jobs(ctx)
	if err != nil {
		return err
	}
	failed, err := store.FailedJobs(ctx, now.Add(-failedWithin))
	if err != nil {
		return err
	}
	found, due := false, 0
	for _, c := range counts {
		if c.State != "available" {
			continue
		}
		due += c.Jobs
		if age := now.Sub(c.Oldest); age > lateJob {
			found = true
			e.add(name, Warn, fmt.Sprintf("%s: the oldest of %s is due for %s, longer than %s", c.Kind, counted(c.Jobs, "job"), rounded(age), rounded(lateJob)),
				nextStep(otherwise, "Wait for long jobs to end, or start another process with --role worker. The metric mailhelm_jobs shows the running ones."))
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(failed)) {
		if failed[kind] > failedJobs {
			found = true
			e.add(name, Warn, fmt.Sprintf("%s: %d jobs have failed at their last attempt within %s", kind, failed[kind], rounded(failedWithin)),
				"Read the log, which has the error of each failed run, with the kind and the id of the job.")
		}
	}
	if !found {
		e.add(name, OK, fmt.Sprintf("due jobs: %d", due), "")
	}
	return nil
}

// syncs warns for each kind of sync with sending accounts that succeeded for no organization
// within an hour.
func (e *examination) syncs(ctx context.Context, store monitoring.Store, otherwise string) error {
	now := e.cfg.Clock()
	syncs, err := store.Syncs(ctx)
	if err != nil {
		return err
	}
	for _, s := range syncs {
		if s.Succeeded == nil || !slices.Contains(sending.SyncKinds(), sending.SyncKind(s.Kind)) {
			continue
		}
		if age := now.Sub(*s.Succeeded); age > staleSync {
			e.add("syncs", Warn, fmt.Sprintf("%s: the last sync with a sending account succeeded %s ago; syncs run every 15 minutes", s.Kind, rounded(age)),
				nextStep(otherwise, "Start the server if it does not run. Otherwise see the check of sending accounts above, and the log."))
		}
	}
	return nil
}

// nextStep returns otherwise, or next if it is "".
func nextStep(otherwise, next string) string {
	if otherwise != "" {
		return otherwise
	}
	return next
}

// rounded returns a duration in seconds, without units that are 0: 5m, 2h, 1h3m12s.
func rounded(d time.Duration) string {
	d = d.Round(time.Second)
	text := d.String()
	if d >= time.Minute && d%time.Minute == 0 {
		text = text[:len(text)-len("0s")]
		if d >= time.Hour && d%time.Hour == 0 {
			text = text[:len(text)-len("0m")]
		}
	}
	return text
}

// counted returns a number of things as text. The store counts only the first items of a long
// queue.
func counted(n int, thing string) string {
	switch {
	case n == 1:
		return "1 " + thing
	case n >= monitoring.CountedInFull:
		return fmt.Sprintf("at least %d %ss", n, thing)
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
