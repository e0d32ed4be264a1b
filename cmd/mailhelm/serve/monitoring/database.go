package monitoring

import (
	"context"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	store "github.com/mailhelm/mailhelm/storage/monitoring"
	"github.com/prometheus/client_golang/prometheus"
)

const (
	// figuresFor is how long figures of the database are shown before they are read again. It
	// is less than 15 s, so that a scrape every 15 s reads them each time.
	figuresFor = 14 * time.Second
	// figuresTimeout limits the time of reading them, so that a scrape gets the other metrics
	// if the database does not answer.
	figuresTimeout = 3 * time.Second
)

// databaseConfig configures the figures of the whole database. All fields are required.
type databaseConfig struct {
	Store store.Store
	Clock core.Clock
	Log   *slog.Logger
}

// database shows the figures of the whole database. A scrape reads them on the connections for
// jobs if they are older than figuresFor.
type database struct {
	databaseConfig

	waiting, oldest, jobs, dueJobs, synced, failing, age *prometheus.Desc

	mu    sync.Mutex
	shown figures
	// tried is the time of the last attempt to read figures.
	tried time.Time
}

// figures are the figures of the database at one time. The zero value has none.
type figures struct {
	at       time.Time
	backlogs []store.Backlog
	jobs     []store.JobCount
	syncs    []store.SyncCount
}

// showDatabase registers the figures of the whole database. Each process shows the same ones.
func showDatabase(r prometheus.Registerer, cfg databaseConfig) {
	r.MustRegister(&database{
		databaseConfig: cfg,
		waiting: prometheus.NewDesc("mailhelm_queue_waiting",
			"Items of the whole database that wait in a queue. A long queue counts only in part: 10,000 items, or 1,000 of each webhook endpoint, domain or workflow.", []string{"queue"}, nil),
		oldest: prometheus.NewDesc("mailhelm_queue_oldest_seconds",
			"Time since which the oldest item of a queue waits; 0 if none waits.", []string{"queue"}, nil),
		jobs: prometheus.NewDesc("mailhelm_jobs",
			"Jobs of the whole database by kind and state: available (due), scheduled (due later), retryable (failed, runs again), running, discarded (failed at the last attempt, kept for 7 days or the period of the organization). At most 10,000 of each state count.", []string{"kind", "state"}, nil),
		dueJobs: prometheus.NewDesc("mailhelm_jobs_oldest_seconds",
			"Time since which the oldest available job of a kind is due; 0 if none is.", []string{"kind"}, nil),
		synced: prometheus.NewDesc("mailhelm_sync_success_timestamp_seconds",
			"Unix time of the last successful sync of any organization with its sending account, by kind; 0 if there was none.", []string{"kind"}, nil),
		failing: prometheus.NewDesc("mailhelm_sync_failing_organizations",
			"Organizations whose last sync with the sending account failed, by kind.", []string{"kind"}, nil),
		age: prometheus.NewDesc("mailhelm_figures_age_seconds",
			"Time since the figures of the whole database were read. They are read at most every 14 seconds, by a scrape.", nil, nil),
	})
}

// Describe implements [prometheus.Collector].
func (d *database) Describe(all chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{d.waiting, d.oldest, d.jobs, d.dueJobs, d.synced, d.failing, d.age} {
		all <- desc
	}
}

// Collect implements [prometheus.Collector]. Until the figures could be read for the first
// time, all values are not a number.
func (d *database) Collect(all chan<- prometheus.Metric) {
	now := d.Clock()
	f := d.current(now)
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		if f.at.IsZero() {
			value = math.NaN()
		}
		all <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	gauge(d.age, since(now, &f.at))
	backlogs := map[string]store.Backlog{}
	for _, b := range f.backlogs {
		backlogs[b.Queue] = b
	}
	for _, queue := range store.Queues() {
		gauge(d.waiting, float64(backlogs[queue].Waiting), queue)
		if store.HasAge(queue) {
			gauge(d.oldest, since(now, backlogs[queue].Oldest), queue)
		}
	}
	d.collectJobs(f, now, gauge)
	syncs := map[string]store.SyncCount{}
	for _, s := range f.syncs {
		syncs[s.Kind] = s
	}
	for _, kind := range sending.SyncKinds() {
		s := syncs[string(kind)]
		gauge(d.failing, float64(s.Failing), string(kind))
		if s.Succeeded == nil {
			gauge(d.synced, 0, string(kind))
			continue
		}
		gauge(d.synced, float64(s.Succeeded.UnixMilli())/1000, string(kind))
	}
}

// collectJobs shows the numbers of jobs.
func (d *database) collectJobs(f figures, now time.Time, gauge func(desc *prometheus.Desc, value float64, labels ...string)) {
	type label struct{ kind, state string }
	jobs, due := map[label]int{}, map[string]float64{}
	for _, j := range f.jobs {
		kind := kindLabel(j.Kind)
		jobs[label{kind, j.State}] += j.Jobs
		if j.State == "available" {
			due[kind] = max(due[kind], since(now, &j.Oldest))
		}
	}
	for _, kind := range append(JobKinds(), otherKind) {
		gauge(d.dueJobs, due[kind], kind)
		for _, state := range store.JobStates() {
			gauge(d.jobs, float64(jobs[label{kind, state}]), kind, state)
		}
	}
}

// since returns the seconds from a time until now, and 0 for nil.
func since(now time.Time, t *time.Time) float64 {
	if t == nil {
		return 0
	}
	return max(0, now.Sub(*t).Seconds())
}

// current returns the figures, and reads them first if they are old. If that fails, it returns
// the earlier ones and does not try again for figuresFor.
func (d *database) current(now time.Time) figures {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.tried.IsZero() && now.Sub(d.tried) < figuresFor {
		return d.shown
	}
	d.tried = now
	ctx, cancel := context.WithTimeout(core.WithLane(context.Background(), core.Background), figuresTimeout)
	defer cancel()
	f, err := d.read(ctx, now)
	if err != nil {
		d.Log.WarnContext(ctx, "the metrics have old figures of the database", "error", err)
		return d.shown
	}
	d.shown = f
	return f
}

func (d *database) read(ctx context.Context, now time.Time) (figures, error) {
	f := figures{at: now}
	var err error
	if f.backlogs, err = d.Store.Backlogs(ctx, now); err != nil {
		return f, err
	}
	if f.jobs, err = d.Store.Jobs(ctx); err != nil {
		return f, err
	}
	f.syncs, err = d.Store.Syncs(ctx)
	return f, err
}
