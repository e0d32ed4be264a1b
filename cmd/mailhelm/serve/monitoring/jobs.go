package monitoring

import (
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/prometheus/client_golang/prometheus"
)

// otherKind is the value of the label kind for kinds of jobs that this version does not have.
const otherKind = "other"

// jobKinds are the kinds of jobs, sorted. All processes show them, also those that run no jobs.
// A test compares them with those that a server registers.
var jobKinds = []string{
	"access_purge",
	"activities_purge",
	"api_key_grace",
	"approvals_expire",
	"attribute_pass",
	"broadcasts_recount",
	"channel_sync",
	"contact_list_sync",
	"contact_pushes",
	"contact_uploads",
	"contacts_bulk",
	"dmarc_files_purge",
	"domainauth_enrol",
	"domainauth_notices",
	"domainauth_poll",
	"domainauth_purge",
	"domainauth_refresh",
	"git_sync",
	"handover_give_up",
	"inboxes_purge",
	"messages_purge",
	"org_erase",
	"partitions_keep",
	"people_ask_reset",
	"people_notice",
	"people_purge",
	"people_warn",
	"production_access_follow",
	"received_mail_sweep",
	"receiving_domain_verify",
	"receiving_purge",
	"replay_purge",
	"retention_apply",
	"segments_follow",
	"segments_sweep",
	"senders_forget",
	"senders_mail_code",
	"signing_purge",
	"template_deploy",
	"template_sync",
	"tracking_domain_verify",
	"undeliverable_rejudge",
	"webhooks_purge",
	"workflows_revalidate",
}

// JobKinds returns the kinds of jobs, sorted.
func JobKinds() []string { return slices.Clone(jobKinds) }

// kindLabel returns the label of a kind of job.
func kindLabel(kind string) string {
	if _, known := slices.BinarySearch(jobKinds, kind); known {
		return kind
	}
	return otherKind
}

// CountJobs registers the metrics of the runs of jobs in this process. It returns the function
// that counts a run.
func CountJobs(r prometheus.Registerer) func(kind string, outcome engine.JobOutcome, took time.Duration) {
	runs := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "mailhelm_job_runs_total",
		Help: "Runs of jobs in this process by kind and outcome: done, failed (runs again), discarded (failed at the last attempt), postponed (the database refused its calls), interrupted (the process stops).",
	}, []string{"kind", "outcome"})
	seconds := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "mailhelm_job_run_seconds", Help: "Duration of runs of jobs in this process, by kind.",
		Buckets: []float64{.01, .05, .25, 1, 5, 15, 60, 300, 900},
	}, []string{"kind"})
	r.MustRegister(runs, seconds)
	for _, kind := range append(JobKinds(), otherKind) {
		seconds.WithLabelValues(kind)
		for _, outcome := range engine.JobOutcomes() {
			runs.WithLabelValues(kind, string(outcome))
		}
	}
	return func(kind string, outcome engine.JobOutcome, took time.Duration) {
		kind = kindLabel(kind)
		runs.WithLabelValues(kind, string(outcome)).Inc()
		seconds.WithLabelValues(kind).Observe(took.Seconds())
	}
}
