package doctor

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core/replay"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/monitoring"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestLimitsAreThoseOfTheAlerts compares the limits of this package with the expressions of the
// shipped alert rules.
func TestLimitsAreThoseOfTheAlerts(t *testing.T) {
	t.Parallel()
	rules, err := os.ReadFile("../packaging/files/prometheus-alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	alerts := map[string]float64{}
	oldest := regexp.MustCompile(`expr: max.*\(mailhelm_queue_oldest_seconds\{queue(=|=~|!~)"([^"]*)"\}\) > (\d+)\n`)
	for _, rule := range oldest.FindAllStringSubmatch(string(rules), -1) {
		named := regexp.MustCompile(`^(` + rule[2] + `)$`)
		limit, err := strconv.ParseFloat(rule[3], 64)
		if err != nil {
			t.Fatal(err)
		}
		for _, queue := range monitoring.Queues() {
			if named.MatchString(queue) != (rule[1] == "!~") {
				alerts[queue] = limit
			}
		}
	}
	for _, queue := range monitoring.Queues() {
		limit, has := latenessOf(queue)
		if want, alerted := alerts[queue]; has != alerted || limit.limit.Seconds() != want {
			t.Errorf("%s: doctor warns after %s, the alert fires after %v s", queue, limit.limit, want)
		}
	}
	for _, expression := range []string{
		fmt.Sprintf("(mailhelm_jobs_oldest_seconds) > %v\n", lateJob.Seconds()),
		fmt.Sprintf(`(mailhelm_job_runs_total{outcome="discarded"}[1h])) > %d`+"\n", failedJobs),
		fmt.Sprintf("(mailhelm_sync_success_timestamp_seconds > 0) > %v\n", staleSync.Seconds()),
	} {
		if !strings.Contains(string(rules), expression) {
			t.Errorf("no alert has %s", expression)
		}
	}
	if failedWithin != time.Hour {
		t.Errorf("failures count for %s", failedWithin)
	}
}

// waiting is a database with work that waits since times before now.
type waiting struct {
	*testing.T
	db  *storage.DB
	now time.Time
}

func (w waiting) change(text string, arguments ...any) {
	w.Helper()
	if _, err := w.db.Writer().ExecContext(w.Context(), text, arguments...); err != nil {
		w.Fatalf("%s: %v", text, err)
	}
}

// ago returns a time before now as the tables of domains store it.
func (w waiting) ago(d time.Duration) int64 { return w.now.Add(-d).UnixMicro() }

// jobTime returns a time before now as the job queue stores it.
func (w waiting) jobTime(d time.Duration) string {
	if w.db.Dialect() == engine.SQLite {
		return w.now.Add(-d).UTC().Format(time.DateTime)
	}
	return w.now.Add(-d).UTC().Format(time.DateTime + "-07:00")
}

// receive stores a received message that waits.
func (w waiting) receive(id string, waits time.Duration) {
	w.Helper()
	w.change(`INSERT INTO received_mail (org_id, id, envelope, store_id, raw_key, discard, received_at, attempts, due_at) VALUES ('o', $1, '', '', '', '', $2, 0, $2)`, id, w.ago(waits))
}

// enqueue adds jobs of a kind that no server has.
func (w waiting) enqueue(jobs int) {
	w.Helper()
	queue, err := w.db.NewJobs(engine.JobsConfig{})
	if err != nil {
		w.Fatal(err)
	}
	for range jobs {
		if err := queue.Enqueue(w.Context(), stray{}); err != nil {
			w.Fatal(err)
		}
	}
}

type stray struct{}

func (stray) Kind() string { return "of_another_version" }

// beat stores the heartbeat of a process.
func (w waiting) beat(role string, before time.Duration) {
	w.Helper()
	if err := w.db.Processes().Beat(w.Context(), role, replay.Heartbeat{At: w.now.Add(-before), Role: role}); err != nil {
		w.Fatal(err)
	}
}

// expect compares the results of the examination with lines.
func (w waiting) expect(when string, want ...string) {
	w.Helper()
	e := &examination{cfg: config.Config{Clock: func() time.Time { return w.now }}, report: Report{Status: OK}}
	if w.db.Dialect() == engine.PostgreSQL {
		e.cfg.DatabaseURL = "postgres://"
	}
	e.backlog(w.Context(), w.db)
	var lines []string
	for _, c := range e.report.Checks {
		line := fmt.Sprintf("%s %s: %s", c.Status, c.Name, c.Detail)
		if c.Next != "" {
			line += " -> " + c.Next
		}
		lines = append(lines, line)
	}
	if got := strings.Join(lines, "\n"); got != strings.Join(want, "\n") {
		w.Errorf("%s:\n%s\nwant\n%s", when, got, strings.Join(want, "\n"))
	}
}

// TestBacklog checks what doctor says about queues, jobs and syncs that are late, and about
// those that are not.
func TestBacklog(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := waiting{t, db, time.Now().Truncate(time.Second)}
		w.expect("empty", "ok backlog: waiting items in 18 queues: 0", "ok jobs: due jobs: 0")

		w.receive("a", time.Minute)
		w.enqueue(5)
		w.change(`UPDATE river_job SET scheduled_at = $1 WHERE id = 1`, w.jobTime(lateJob-time.Second))
		w.change(`UPDATE river_job SET state = 'discarded', finalized_at = $1 WHERE id IN (3, 4)`, w.jobTime(failedWithin-time.Minute))
		w.change(`UPDATE river_job SET state = 'discarded', finalized_at = $1 WHERE id = 5`, w.jobTime(failedWithin+time.Minute))
		w.change(`INSERT INTO sync_results (org_id, kind, ended_at, failure, succeeded_at) VALUES ('o', 'contacts', 0, '', $1)`, w.ago(staleSync))
		w.expect("in time", "ok backlog: waiting items in 18 queues: 1; the oldest is in received_mail and waits for 1m", "ok jobs: due jobs: 2")

		w.receive("b", 61*time.Second)
		w.change(`INSERT INTO bulk_jobs (org_id, id, status, total, processed, succeeded, failed, attempts, created_at) VALUES ('o', 'j', '', 0, 0, 0, 0, 0, $1)`, w.ago(2*time.Hour))
		w.change(`UPDATE river_job SET scheduled_at = $1 WHERE id = 1`, w.jobTime(lateJob+time.Minute))
		w.change(`UPDATE river_job SET finalized_at = $1 WHERE id = 5`, w.jobTime(failedWithin-time.Minute))
		w.change(`UPDATE sync_results SET succeeded_at = $1`, w.ago(staleSync+time.Second))
		nextOf := func(own string) string { return own }
		want := func(workers ...string) []string {
			return append(workers,
				"warn backlog: received_mail: the oldest of 2 items waits for 1m1s, longer than 1m -> "+nextOf(lateMail.next),
				"warn jobs: of_another_version: the oldest of 2 jobs is due for 11m, longer than 10m -> "+nextOf("Wait for long jobs to end, or start another process with --role worker. The metric mailhelm_jobs shows the running ones."),
				"warn jobs: of_another_version: 3 jobs have failed at their last attempt within 1h -> Read the log, which has the error of each failed run, with the kind and the id of the job.",
				"warn syncs: contacts: the last sync with a sending account succeeded 1h0m1s ago; syncs run every 15 minutes -> "+nextOf("Start the server if it does not run. Otherwise see the check of sending accounts above, and the log."))
		}
		if db.Dialect() == engine.SQLite {
			w.expect("late", want()...)
			return
		}
		nextOf = func(string) string {
			return "No process runs background jobs: start 'mailhelm serve' with --role worker or --role all."
		}
		w.expect("late, without a process", want()...)
		w.beat("api", time.Second)
		w.beat("worker", time.Hour)
		w.expect("late, without a worker", want("warn workers: all running processes have --role api, so none runs background jobs: broadcasts, workflows, webhooks, syncs and imports wait -> Start 'mailhelm serve' with --role worker or --role all.")...)
		w.beat("worker", time.Second)
		nextOf = func(own string) string { return own }
		w.expect("late, with a worker", want("ok workers: processes that run background jobs: 1")...)
	})
}
