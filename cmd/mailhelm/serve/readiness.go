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

// newMetrics returns a new registry of Prometheus metrics. Each host needs its own
// registry, because several hosts may run in one process.
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

// readinessTimeout limits the duration of all checks for one readiness request.
const readinessTimeout = 2 * time.Second

// readiness determines whether this host should receive calls. It is ready if the database
// answers, the schema is current and the host is not stopping.
//
// The sending account is not checked. Without it, reads still work from Mailhelm's database
// and writes report the failure. If it were checked, its failure would make all calls fail.
//
// Redis is checked and reported, but the host is ready without it, because each process can
// count rate limits on its own.
type readiness struct {
	db       *storage.DB
	buckets  *redisbuckets.Buckets // nil without a Redis
	log      *slog.Logger
	draining atomic.Bool
	// migrated is true after a check has found the schema current. Later checks then do not
	// read the schema, because it does not change back while the program runs.
	migrated atomic.Bool
}

// checks maps the name of a readiness check to its result, "ok" or "failed".
type checks map[string]string

// set stores the result of the check with this name: "ok" if the parameter ok is true, else
// "failed". It returns the parameter ok.
func (c checks) set(name string, ok bool) bool {
	c[name] = "ok"
	if !ok {
		c[name] = "failed"
	}
	return ok
}

// check runs all readiness checks. It returns their results, the causes of failures, and
// whether the host is ready. The causes are for the operator, who alone can reach the admin
// address. It takes at most two seconds.
func (r *readiness) check(ctx context.Context) (checks, causes, bool) {
	ctx, cancel := context.WithTimeout(core.WithLane(ctx, core.Vital), readinessTimeout)
	defer cancel()
	c, why := checks{}, causes{}
	if r.buckets != nil {
		c.set("redis", r.isSharing(ctx))
	}
	ready := c.set("accepting", !r.draining.Load())
	ready = c.set("database", r.answers(ctx, why)) && ready
	return c, why, c.set("migrations", r.current(ctx)) && ready
}

// causes maps the name of a failed readiness check to its cause.
type causes map[string]string

// answers reports whether the database answers. If not, it logs the cause and stores it in
// the map why.
func (r *readiness) answers(ctx context.Context, why causes) bool {
	err := r.db.Check(ctx)
	if err != nil {
		why["database"] = engine.Cause(err)
		r.log.WarnContext(ctx, "not ready: the database accepts no calls", "cause", why["database"])
	}
	return err == nil
}

// current reports whether the database has all migrations of this program. Once that is
// true, later calls return true without reading the database.
func (r *readiness) current(ctx context.Context) bool {
	if r.migrated.Load() {
		return true
	}
	missing, err := r.db.MissingMigrations(ctx)
	if err != nil || missing > 0 {
		r.log.WarnContext(ctx, "not ready: the database does not have the schema of this program", "missing", missing, "error", err)
		return false
	}
	r.migrated.Store(true)
	return true
}

// serve answers GET /readyz with status 200 if the host is ready, otherwise with 503. The
// JSON body contains the checks and the causes of failures.
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

// adminHandler returns the handler of the admin address: /metrics, /readyz and /livez. It
// authenticates no caller, so the address must be private. /livez answers 200 as long as
// the process runs, even if the host is not ready.
func adminHandler(metrics *prometheus.Registry, r *readiness) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /readyz", r.serve)
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]any{"status": "alive"})
	})
	return mux
}

// answer writes body as JSON with the given status. It forbids caching, because the
// readiness can change at any time.
func answer(w http.ResponseWriter, status int, body map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(body) //nolint:errcheck // the client is gone, so no error can reach it
}
