package guardrails

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/replay"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
)

// Authenticator returns the principal of a bearer credential. It fails with the
// codes of status 401, or wrong_host.
type Authenticator interface {
	Authenticate(ctx context.Context, bearer string, resource access.Resource) (core.Principal, error)
}

// AuditLog stores one line for each write, in the write's own transaction.
type AuditLog interface {
	AppendAudit(ctx context.Context, e access.AuditEvent) error
}

// Config configures the rails. All members are required, unless their comments say what nil
// or 0 means.
type Config struct {
	Authenticator Authenticator
	Transactor    core.Transactor
	Replays       replay.Store
	// Process keeps the reservations of this process and reports which other processes are
	// alive. With nil, reservations end only when their lease expires.
	Process *replay.Process
	Audit   AuditLog
	// ConfirmationSecret is 32 bytes that all processes over one database share.
	// The keys that sign confirmations are derived from it, one for each day.
	ConfirmationSecret []byte
	Clock              core.Clock
	Log                *slog.Logger
	Metrics            prometheus.Registerer
	// Repositories opens pull requests. With nil, writes that would become pull requests are
	// refused.
	Repositories RepositoryHost
	// Tracer makes a span for each call; nil makes none.
	Tracer trace.Tracer
	// SharedBuckets shares the rate limit between processes; nil means that each process
	// counts by itself.
	SharedBuckets Buckets
	// SharedTimeout is the longest time for which a call waits for SharedBuckets; 0 means 50
	// ms.
	SharedTimeout time.Duration
	// ExpensiveSlots is the number of expensive reads that run at once; 0 means 4. It must
	// not exceed the database connections for such reads.
	ExpensiveSlots int
}

// Guard has the state that all calls share: the configuration, the metrics and the slots.
type Guard struct {
	Config
	buckets   Buckets
	metrics   *metrics
	expensive *slots
}

// New returns a guard and registers its metrics. Call it once for each registry: a second
// call panics.
func New(cfg Config) *Guard {
	buckets := OwnBuckets(cfg.Clock)
	if cfg.SharedBuckets != nil {
		buckets = newSharedBuckets(cfg)
	}
	expensive := newSlots(cfg.ExpensiveSlots)
	expensive.register(cfg.Metrics)
	return &Guard{Config: cfg, buckets: buckets, metrics: newMetrics(cfg.Metrics), expensive: expensive}
}

// Request is the input of a call from a surface.
type Request struct {
	Principal core.Principal
	Surface   core.Surface
	RequestID string
	// Arguments is the JSON object of the arguments; empty means none.
	Arguments json.RawMessage
	// IdempotencyKey is the caller's explicit key, "" for none.
	IdempotencyKey string
	// Confirmation is the signed confirmation from an earlier answer.
	Confirmation string
	// ConfirmationForm names the way in which this caller confirms. The token is bound to
	// it: a token for one way is invalid in another.
	ConfirmationForm string
	// Continuation is the state that an agent sends to continue an earlier answer: request
	// state and input responses. It is part of a derived key.
	Continuation json.RawMessage
}

// Result is the outcome of a call.
type Result struct {
	// Value is the operation's result in the surface's form. It is nil when Confirm is set.
	Value any
	// Created is true when the call created a record.
	Created bool
	// Replayed is true when Value is the stored result of an earlier, equal call.
	Replayed bool
	// Confirm is set instead of Value when the caller must agree first.
	Confirm *ConfirmationRequired
}

// passage is the state of one call while it passes through the rails.
type passage struct {
	guard *Guard
	op    core.Operation
	info  core.OperationInfo
	req   Request
	call  *core.Call
	at    int // index in order of the rail that runs now

	in, out     any
	reservation *reservation
	spend       *confirmation
	confirm     *ConfirmationRequired
	asked       *core.Confirmation // what the call would do, once that was computed
	confirmed   any                // the input from which that was computed
	replayed    bool
	// byPullRequest is true for a write that a repository owns. The call then opens a pull
	// request instead.
	byPullRequest bool
}

// rail is one check or step of a call. run either calls p.next, or returns without it and so
// ends the call.
type rail struct {
	name string
	run  func(ctx context.Context, p *passage) error
}

// order has the rails in the order in which they run. init fills it, because rails refer to
// it through next.
var order []rail

func init() {
	order = []rail{
		{"scopes", scopes},
		{"environment", environment},
		{"validate", validate},
		{"git", git},
		{"replay", replays},
		{"confirm", confirm},
		{"prepare", prepare},
		{"bulkhead", bulkhead},
		{"commit", commit},
	}
}

// next runs the rail after the current one.
func (p *passage) next(ctx context.Context) error {
	p.at++
	return order[p.at].run(ctx, p)
}

// Call runs one call through the rails and returns its result. Every error is a *core.Error.
func (o *Operation) Call(ctx context.Context, req Request) (Result, error) {
	g := o.guard
	p := &passage{
		guard: g, op: o.op, info: o.info, req: req, at: -1,
		call: &core.Call{Principal: req.Principal, Surface: req.Surface, RequestID: req.RequestID, Now: g.Clock()},
	}
	ctx, span := g.startSpan(ctx, p)
	err := p.run(ctx)
	var result Result
	if err == nil {
		result = present(p)
	}
	g.endSpan(span, g.observe(ctx, p, err))
	if err != nil {
		return Result{}, core.AsError(err)
	}
	return result, nil
}

// run runs the call through all rails. It turns a panic of an operation into an internal
// error and logs the stack. So the call still releases its reservation and is counted. The
// result is named because recover sets it.
func (p *passage) run(ctx context.Context) (err error) {
	defer p.call.Finish()
	defer func() {
		if cause := recover(); cause != nil {
			err = core.Internal(fmt.Errorf("panic: %s", core.PanicText(cause)))
		}
	}()
	return p.next(ctx)
}
