package monitoring

import (
	"log/slog"
	"net/http"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/monitoring/overview"
	"github.com/mailhelm/mailhelm/core/replay"
	"github.com/mailhelm/mailhelm/storage/engine"
	store "github.com/mailhelm/mailhelm/storage/monitoring"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// NewRegistry returns a new registry of Prometheus metrics. Each host needs its own
// registry, because several hosts may run in one process.
func NewRegistry(b config.Build) *prometheus.Registry {
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "mailhelm_build_info", Help: "Always 1; the labels say which program this is.",
		ConstLabels: prometheus.Labels{"version": b.Version, "commit": b.Commit},
	})
	build.Set(1)
	r := prometheus.NewRegistry()
	r.MustRegister(build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// ShowServer registers the metrics of the database, of its connection pools and of the
// processes that use it.
func ShowServer(r prometheus.Registerer, db *engine.DB, process *replay.Process, log *slog.Logger) {
	showPools(r, db.PoolStats)
	showReplica(r, db.ReplicaStats)
	showProcesses(r, process.Alive)
	showDatabase(r, databaseConfig{Store: store.New(db), Clock: db.Now, Log: log})
}

// Handler returns the handler of the admin address: the overview page, /metrics, /readyz and
// /livez. It authenticates no caller, so the address must be private. /livez answers 200 as
// long as the process runs, even if the host is not ready. history has the figures of the
// overview page.
func Handler(metrics *prometheus.Registry, r *Readiness, history *overview.History) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", overview.Handler(history, r.state))
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /readyz", r.serve)
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]any{"status": "alive"})
	})
	return mux
}
