package monitoring

import (
	"log/slog"
	"maps"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine"
	store "github.com/mailhelm/mailhelm/storage/monitoring"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	"github.com/prometheus/client_golang/prometheus"
)

type stray struct{}

func (stray) Kind() string { return "of_another_version" }

// TestDatabaseFigures scrapes an empty database, one with waiting work before and after the
// figures are read again, and one that does not answer.
func TestDatabaseFigures(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
		r := prometheus.NewRegistry()
		showDatabase(r, databaseConfig{Store: db.Monitoring(), Clock: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler)})
		expect := func(when string, want map[string]float64) {
			t.Helper()
			for name, value := range want {
				metric, labels, _ := strings.Cut(name, " ")
				if got, found := counted(t, r, metric)[labels]; !found || got != value {
					t.Errorf("%s: %s is %v (%t), want %v", when, name, got, found, value)
				}
			}
		}
		if n := len(counted(t, r, "mailhelm_queue_waiting")); n != len(store.Queues()) {
			t.Errorf("%d queues, want %d", n, len(store.Queues()))
		}
		if n := len(counted(t, r, "mailhelm_jobs")); n != (len(jobKinds)+1)*len(store.JobStates()) {
			t.Errorf("%d series of jobs", n)
		}
		empty := map[string]float64{
			"mailhelm_queue_waiting received_mail ": 0, "mailhelm_queue_oldest_seconds received_mail ": 0, "mailhelm_jobs other available ": 0,
			"mailhelm_sync_success_timestamp_seconds contacts ": 0, "mailhelm_figures_age_seconds ": 0,
		}
		expect("empty", empty)
		queue, err := db.NewJobs(engine.JobsConfig{})
		if err != nil {
			t.Fatal(err)
		}
		if err := queue.Enqueue(t.Context(), stray{}); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Writer().ExecContext(t.Context(), `INSERT INTO received_mail (org_id, id, envelope, store_id, raw_key, discard, received_at, attempts, due_at)
			VALUES ('o', 'm', '', '', '', '', $1, 0, 0)`, now.Add(-time.Minute).UnixMicro()); err != nil {
			t.Fatal(err)
		}
		now = now.Add(figuresFor - time.Second)
		empty["mailhelm_figures_age_seconds "] = (figuresFor - time.Second).Seconds()
		expect("before the figures are read again", empty)
		now = now.Add(time.Second)
		full := map[string]float64{
			"mailhelm_queue_waiting received_mail ": 1, "mailhelm_queue_oldest_seconds received_mail ": 60 + figuresFor.Seconds(),
			"mailhelm_jobs other available ": 1, "mailhelm_figures_age_seconds ": 0,
		}
		expect("full", full)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Minute)
		full["mailhelm_figures_age_seconds "] = 60
		full["mailhelm_queue_oldest_seconds received_mail "] += 60
		expect("without an answer", full)
	})
}

// TestFiguresAreUnknownAtFirst checks that all series exist without a value if the database
// has never answered.
func TestFiguresAreUnknownAtFirst(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	r := prometheus.NewRegistry()
	showDatabase(r, databaseConfig{Store: db.Monitoring(), Clock: time.Now, Log: slog.New(slog.DiscardHandler)})
	for _, name := range []string{"mailhelm_queue_waiting", "mailhelm_jobs", "mailhelm_jobs_oldest_seconds", "mailhelm_sync_failing_organizations", "mailhelm_figures_age_seconds"} {
		values := counted(t, r, name)
		for value := range maps.Values(values) {
			if !math.IsNaN(value) {
				t.Errorf("%s is %v", name, value)
			}
		}
		if len(values) == 0 {
			t.Errorf("%s is missing", name)
		}
	}
}

// TestJobRunsAreCounted checks the counter of runs of a known and of an unknown kind.
func TestJobRunsAreCounted(t *testing.T) {
	t.Parallel()
	r := prometheus.NewRegistry()
	observe := CountJobs(r)
	observe("git_sync", engine.JobFailed, time.Second)
	observe("of_another_version", engine.JobDone, time.Second)
	runs := counted(t, r, "mailhelm_job_runs_total")
	if runs["git_sync failed "] != 1 || runs["other done "] != 1 || len(runs) != (len(jobKinds)+1)*len(engine.JobOutcomes()) {
		t.Errorf("runs: %v", runs)
	}
	if seconds := counted(t, r, "mailhelm_job_run_seconds"); seconds["git_sync "] != 1 || seconds["other "] != 1 {
		t.Errorf("durations: %v", seconds)
	}
}

// TestHasWorker checks which processes run jobs.
func TestHasWorker(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		alive map[string]int
		want  bool
	}{
		{map[string]int{"api": 2}, false},
		{map[string]int{"api": 1, "worker": 1}, true},
		{map[string]int{"all": 1}, true},
		{map[string]int{"api": 1, "": 1}, true},
		{map[string]int{}, false},
	} {
		if got := hasWorker(tc.alive); got != tc.want {
			t.Errorf("%v: %t", tc.alive, got)
		}
	}
}
