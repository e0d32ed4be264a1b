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

// Authenticator turns a bearer credential into a principal. It fails with the
// codes of status 401, or wrong_host.
type Authenticator interface {
	Authenticate(ctx context.Context, bearer string, resource access.Resource) (core.Principal, error)
}

// AuditLog takes one line for each write, in the write's own transaction.
type AuditLog interface {
	AppendAudit(ctx context.Context, e access.AuditEvent) error
}

// Config is what the rails need. All members are required, unless they say what
// nil or 0 means.
type Config struct {
	Authenticator Authenticator
	Transactor    core.Transactor
	Replays       replay.Store
	// Process holds the reservations of this process and knows which others live; nil
	// means that reservations end with their lease alone.
	Process *replay.Process
	Audit   AuditLog
	// ConfirmationSecret is 32 bytes that all processes over one database share.
	// The keys that sign confirmations are derived from it, one for each day.
	ConfirmationSecret []byte
	Clock              core.Clock
	Log                *slog.Logger
	Metrics            prometheus.Registerer
	// Repositories may be nil: writes that would become pull requests are then refused.
	Repositories RepositoryHost
	// Tracer makes a span of each call; nil makes none.
	Tracer trace.Tracer
	// SharedBuckets shares the rate limit between processes; nil means that each process
	// counts by itself.
	SharedBuckets Buckets
	// SharedTimeout bounds how long a call waits for them; 0 means 50 ms.
	SharedTimeout time.Duration
	// ExpensiveSlots is how many expensive reads run at once, no more than the database
	// has connections for; 0 means 4.
	ExpensiveSlots int
}

// Guard holds what the rails share.
type Guard struct {
	Config
	buckets   Buckets
	metrics   *metrics
	expensive *slots
}

// New makes the rails. It registers their metrics, so call it once for a registry.
func New(cfg Config) *Guard {
	buckets := OwnBuckets(cfg.Clock)
	if cfg.SharedBuckets != nil {
		buckets = newSharedBuckets(cfg)
	}
	expensive := newSlots(cfg.ExpensiveSlots)
	expensive.register(cfg.Metrics)
	return &Guard{Config: cfg, buckets: buckets, metrics: newMetrics(cfg.Metrics), expensive: expensive}
}

// Request is one call as a surface hands it over.
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
	// ConfirmationForm names how this caller confirms. It is signed: a token for one way is
	// invalid in another.
	ConfirmationForm string
	// Continuation is what an agent sent to continue an earlier answer: request state and
	// input responses. It is part of a derived key.
	Continuation json.RawMessage
}

// Result is the outcome of a call.
type Result struct {
	// Value is the operation's result in the surface's form.
	Value any
	// Created is true when the call created a record.
	Created bool
	// Replayed is true when the result is that of an earlier, equal call.
	Replayed bool
	// Confirm is set instead of Value when the caller must agree first.
	Confirm *ConfirmationRequired
}

// passage is one call on its way through the rails.
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
	// byPullRequest is set for a write that a repository owns: it is proposed there.
	byPullRequest bool
}

// rail does its part and calls p.next, or returns without it to end the call.
type rail struct {
	name string
	run  func(ctx context.Context, p *passage) error
}

// order is filled by init because the rails refer to it through next.
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

// next runs the rail behind the current one.
func (p *passage) next(ctx context.Context) error {
	p.at++
	return order[p.at].run(ctx, p)
}

// Call takes one call through the rails. Every error it returns is a *core.Error.
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

// run takes the call through all rails. It turns a panic in an operation into an internal
// error, with the stack for the log, so that the call releases what it holds and is counted.
// The result is named because recover needs it.
func (p *passage) run(ctx context.Context) (err error) {
	defer p.call.Finish()
	defer func() {
		if cause := recover(); cause != nil {
			err = core.Internal(fmt.Errorf("panic: %s", core.PanicText(cause)))
		}
	}()
	return p.next(ctx)
}
