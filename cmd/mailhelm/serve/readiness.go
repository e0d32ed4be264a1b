package serve

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/guardrails/redisbuckets"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// newMetrics returns a new registry of metrics. Each host has its own, because several
// hosts may run in one process.
func newMetrics(b config.Build) *prometheus.Registry {
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "mailhelm_build_info", Help: "Always 1; the labels say which program this is.",
		ConstLabels: prometheus.Labels{"version": b.Version, "commit": b.Commit},
	})
	build.Set(1)
	r := prometheus.NewRegistry()
	r.MustRegister(build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// readinessTimeout limits all checks of one request together.
const readinessTimeout = 2 * time.Second

// readiness decides whether this host should receive calls. It is ready if the database
// answers, the schema is current and the host is not stopping.
//
// The sending account does not count. Without it, reads still work from the mirror, and
// writes report the failure themselves. Counting it would turn a partial outage into a
// full one.
//
// Redis does not count either: without it each process counts rate limits itself. Its
// check is still reported.
type readiness struct {
	db       *storage.DB
	buckets  *redisbuckets.Buckets // nil without a Redis
	log      *slog.Logger
	draining atomic.Bool
	// migrated is set once the schema was found current, and saves further reads. A schema
	// does not go back while a program runs.
	migrated atomic.Bool
}

// checks maps the name of a check to "ok" or "failed".
type checks map[string]string

// set stores the result of a check under its name and returns ok.
func (c checks) set(name string, ok bool) bool {
	c[name] = "ok"
	if !ok {
		c[name] = "failed"
	}
	return ok
}

// check runs all checks and reports whether the host is ready. It also returns the
// causes of failed checks. Only the operator sees them, because the admin address is
// private. It takes at most two seconds.
func (r *readiness) check(ctx context.Context) (checks, causes, bool) {
	ctx, cancel := context.WithTimeout(core.WithLane(ctx, core.Vital), readinessTimeout)
	defer cancel()
	c, why := checks{}, causes{}
	if r.buckets != nil {
		c.set("redis", r.shares(ctx))
	}
	ready := c.set("accepting", !r.draining.Load())
	ready = c.set("database", r.answers(ctx, why)) && ready
	return c, why, c.set("migrations", r.current(ctx)) && ready
}

// causes maps the name of a failed check to its cause.
type causes map[string]string

// answers reports whether the database accepts calls. If it does not, answers stores
// the cause in why and logs it.
func (r *readiness) answers(ctx context.Context, why causes) bool {
	err := r.db.Check(ctx)
	if err != nil {
		why["database"] = engine.Cause(err)
		r.log.WarnContext(ctx, "not ready: the database takes no calls", "cause", why["database"])
	}
	return err == nil
}

// current reports whether the schema has all migrations of this program. It reads the
// database until the answer is yes for the first time.
func (r *readiness) current(ctx context.Context) bool {
	if r.migrated.Load() {
		return true
	}
	missing, err := r.db.MissingMigrations(ctx)
	if err != nil || missing > 0 {
		r.log.WarnContext(ctx, "not ready: the schema is not this program's", "missing", missing, "error", err)
		return false
	}
	r.migrated.Store(true)
	return true
}

// serve answers GET /readyz: status 200 if the host is ready, otherwise 503, with the
// checks and causes as JSON.
func (r *readiness) serve(w http.ResponseWriter, req *http.Request) {
	c, why, ready := r.check(req.Context())
	status, word := http.StatusOK, "ready"
	if !ready {
		status, word = http.StatusServiceUnavailable, "not ready"
	}
	body := map[string]any{"status": word, "checks": c}
	if len(why) > 0 {
		body["causes"] = why
	}
	answer(w, status, body)
}

// adminHandler returns the handler of the admin address: metrics, readiness and
// liveness. It authenticates no caller, so the address must be private. /livez answers
// as long as the process serves, whatever the readiness.
func adminHandler(metrics *prometheus.Registry, r *readiness) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /readyz", r.serve)
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]any{"status": "alive"})
	})
	return mux
}

// answer writes body as JSON with a status. Caches must not store it, because readiness
// changes at any time.
func answer(w http.ResponseWriter, status int, body map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(body) //nolint:errcheck // the client is gone, so no error can reach it
}
