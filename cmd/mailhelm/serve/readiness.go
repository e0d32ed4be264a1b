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

// newMetrics is a registry of the host's own: several hosts may run in one process.
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

const readinessTimeout = 2 * time.Second

// readiness says whether calls should be sent here: the database answers, its
// schema is this program's, and the host is not about to stop.
//
// The sending account does not count. When it is away, reads still work from the
// mirror and writes say so themselves; to take every instance out of service for
// it would turn a part of an outage into a whole one. Neither does Redis, without
// which each process counts rate limits for itself; its check is told all the same.
type readiness struct {
	db       *storage.DB
	buckets  *redisbuckets.Buckets // nil without a Redis
	log      *slog.Logger
	draining atomic.Bool
	// migrated spares a schema that was found current from being read again: it
	// does not change back under a running program.
	migrated atomic.Bool
}

// checks are "ok" or "failed" by name.
type checks map[string]string

func (c checks) set(name string, ok bool) bool {
	c[name] = "ok"
	if !ok {
		c[name] = "failed"
	}
	return ok
}

// check returns, beside the checks, why those failed that did. That is for the operator:
// the address is private.
func (r *readiness) check(ctx context.Context) (checks, causes, bool) {
	ctx, cancel := context.WithTimeout(core.OnLane(ctx, core.Vital), readinessTimeout)
	defer cancel()
	c, why := checks{}, causes{}
	if r.buckets != nil {
		c.set("redis", r.shares(ctx))
	}
	ready := c.set("accepting", !r.draining.Load())
	ready = c.set("database", r.answers(ctx, why)) && ready
	return c, why, c.set("migrations", r.current(ctx)) && ready
}

// causes say why checks failed, by their names.
type causes map[string]string

func (r *readiness) answers(ctx context.Context, why causes) bool {
	err := r.db.Check(ctx)
	if err != nil {
		why["database"] = engine.Cause(err)
		r.log.WarnContext(ctx, "not ready: the database takes no calls", "cause", why["database"])
	}
	return err == nil
}

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

// adminHandler is what the admin address serves.
func adminHandler(metrics *prometheus.Registry, r *readiness) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /readyz", r.serve)
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]any{"status": "alive"})
	})
	return mux
}

func answer(w http.ResponseWriter, status int, body map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(body) //nolint:errcheck // the client is gone, nobody is left to tell
}
