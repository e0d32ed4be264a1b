package monitoring

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/monitoring/overview"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/replay"
	"github.com/mailhelm/mailhelm/guardrails/redisbuckets"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// readinessTimeout limits the duration of all checks for one readiness request.
const readinessTimeout = 2 * time.Second

// redisTimeout limits how long a readiness check waits for Redis.
const redisTimeout = time.Second

// Readiness determines whether this host should receive calls. It is ready if the database
// answers, the schema is current and the host is not stopping.
//
// The sending account is not checked. Without it, reads still work from Mailhelm's database
// and writes report the failure. If it were checked, its failure would make all calls fail.
//
// Redis is checked and reported, but the host is ready without it, because each process can
// count rate limits on its own.
//
// The host is also ready if no process on the database runs jobs. Then it reports the warning
// no_worker, because it can still answer calls (core/doc/decisions/0123).
type Readiness struct {
	DB      *engine.DB
	Buckets *redisbuckets.Buckets // nil without a Redis
	Process *replay.Process
	Log     *slog.Logger

	draining atomic.Bool
	// migrated is true after a check has found the schema current. Later checks then do not
	// read the schema, because it does not change back while the program runs.
	migrated atomic.Bool
}

// Drain makes the host not ready, because it stops.
func (r *Readiness) Drain() { r.draining.Store(true) }

// NoWorker is the name of the warning that no process on the database runs jobs.
const NoWorker = "no_worker"

// warnings returns the warnings by name, with a text for the operator. They do not make the
// host unready.
func (r *Readiness) warnings() map[string]string {
	if hasWorker(r.Process.Alive()) {
		return nil
	}
	return map[string]string{NoWorker: "No process on this database runs background jobs: broadcasts, workflows, webhooks, syncs and imports wait. " +
		"Start 'mailhelm serve' with --role worker or --role all."}
}

// hasWorker reports whether one of the processes, counted by role, runs jobs. The role "" is of
// a process of an earlier version, whose role is unknown.
func hasWorker(alive map[string]int) bool {
	return alive[string(config.All)]+alive[string(config.Worker)]+alive[""] > 0
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
func (r *Readiness) check(ctx context.Context) (checks, causes, bool) {
	ctx, cancel := context.WithTimeout(core.WithLane(ctx, core.Vital), readinessTimeout)
	defer cancel()
	c, why := checks{}, causes{}
	if r.Buckets != nil {
		c.set("redis", r.isSharing(ctx))
	}
	ready := c.set("accepting", !r.draining.Load())
	ready = c.set("database", r.answers(ctx, why)) && ready
	return c, why, c.set("migrations", r.current(ctx)) && ready
}

// isSharing reports whether Redis, with the shared rate limits, answers within a second. It
// logs a warning if not. r.Buckets must not be nil.
func (r *Readiness) isSharing(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, redisTimeout)
	defer cancel()
	err := r.Buckets.Ping(ctx)
	if err != nil {
		r.Log.WarnContext(ctx, "rate limits are not shared: Redis does not answer", "error", err)
	}
	return err == nil
}

// causes maps the name of a failed readiness check to its cause.
type causes map[string]string

// answers reports whether the database answers. If not, it logs the cause and stores it in
// the map why.
func (r *Readiness) answers(ctx context.Context, why causes) bool {
	err := r.DB.Check(ctx)
	if err != nil {
		why["database"] = engine.Cause(err)
		r.Log.WarnContext(ctx, "not ready: the database accepts no calls", "cause", why["database"])
	}
	return err == nil
}

// current reports whether the database has all migrations of this program. Once that is
// true, later calls return true without reading the database.
func (r *Readiness) current(ctx context.Context) bool {
	if r.migrated.Load() {
		return true
	}
	missing, err := r.DB.MissingMigrations(ctx)
	if err != nil || missing > 0 {
		r.Log.WarnContext(ctx, "not ready: the database does not have the schema of this program", "missing", missing, "error", err)
		return false
	}
	r.migrated.Store(true)
	return true
}

// serve answers GET /readyz with status 200 if the host is ready, otherwise with 503. The
// JSON body contains the checks, the causes of failures and the warnings.
func (r *Readiness) serve(w http.ResponseWriter, req *http.Request) {
	c, why, ready := r.check(req.Context())
	status, word := http.StatusOK, "ready"
	if !ready {
		status, word = http.StatusServiceUnavailable, "not ready"
	}
	body := map[string]any{"status": word, "checks": c}
	if len(why) > 0 {
		body["causes"] = why
	}
	if warnings := r.warnings(); len(warnings) > 0 {
		body["warnings"] = warnings
	}
	answer(w, status, body)
}

// state returns what serve answers, for the overview page.
func (r *Readiness) state(ctx context.Context) overview.State {
	c, why, ready := r.check(ctx)
	return overview.State{Ready: ready, Checks: c, Causes: why, Warnings: r.warnings()}
}

// answer writes body as JSON with the given status. It forbids caching, because the
// readiness can change at any time.
func answer(w http.ResponseWriter, status int, body map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(body) //nolint:errcheck // the client is gone, so no error can reach it
}
