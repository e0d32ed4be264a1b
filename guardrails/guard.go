package guardrails

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/replay"
	"github.com/mailhelm/mailhelm/core/usage"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
)

// Authenticator authenticates bearer credentials. Authenticate returns the principal of a
// credential for a resource. It fails with wrong_host or with an error code of HTTP status
// 401.
type Authenticator interface {
	Authenticate(ctx context.Context, bearer string, resource access.Resource) (core.Principal, error)
}

// AuditLog stores one line of the audit log for each write, in the transaction of the
// write.
type AuditLog interface {
	AppendAudit(ctx context.Context, e access.AuditEvent) error
}

// UsageCounter counts finished calls. Count must not wait for a database.
type UsageCounter interface {
	Count(c usage.Call)
}

// Config configures a [Guard]. All members are required, unless their comments define what
// nil or 0 means.
type Config struct {
	Authenticator Authenticator
	Transactor    core.Transactor
	Replays       replay.Store
	// Process keeps track of the idempotency keys that this process has reserved, and
	// reports which other processes still run. If it is nil, a reserved key of an ended
	// process is only released when its lease expires.
	Process *replay.Process
	Audit   AuditLog
	// ConfirmationSecret is a secret of 32 bytes that all processes over one database share.
	// The keys that sign confirmations are derived from it, one for each day.
	ConfirmationSecret []byte
	Clock              core.Clock
	Log                *slog.Logger
	Metrics            prometheus.Registerer
	// Usage counts calls at the agent endpoint by client and person. If it is nil, they are
	// not counted.
	Usage UsageCounter
	// Repositories opens pull requests. If it is nil, writes that would become pull requests
	// fail.
	Repositories RepositoryHost
	// Tracer creates a span for each call. If it is nil, there are no spans.
	Tracer trace.Tracer
	// SharedBuckets counts rate limits for all processes together. If it is nil, each
	// process counts separately.
	SharedBuckets Buckets
	// SharedTimeout is the longest time for which a call waits for SharedBuckets. 0 means 50
	// ms.
	SharedTimeout time.Duration
	// ExpensiveSlots is the maximum number of expensive reads that run at the same time; 0
	// means 4. It must not exceed the number of database connections for such reads.
	ExpensiveSlots int
}

// Guard has the state that all calls share: the configuration, the rate limits, the metrics
// and the slots for expensive reads and large calls.
type Guard struct {
	Config
	buckets          Buckets
	metrics          *metrics
	expensive, large *slots
	lines            *refusalLines
}

// New returns a Guard and registers its metrics. It panics if it is called a second time
// with the same metrics registry.
func New(cfg Config) *Guard {
	buckets := OwnBuckets(cfg.Clock)
	if cfg.SharedBuckets != nil {
		buckets = newSharedBuckets(cfg)
	}
	expensive, large := newSlots(cmp.Or(cfg.ExpensiveSlots, expensiveSlots), expensiveWait), newSlots(largeSlots, largeWait)
	expensive.register(cfg.Metrics, "mailhelm_expensive_reads", "Expensive reads")
	large.register(cfg.Metrics, "mailhelm_large_calls", "Imports and exports of bundles")
	return &Guard{Config: cfg, buckets: buckets, metrics: newMetrics(cfg.Metrics), expensive: expensive, large: large, lines: newRefusalLines(cfg.Clock)}
}

// Request is one call of an operation, as REST or MCP received it.
type Request struct {
	Principal core.Principal
	Surface   core.Surface
	RequestID string
	// Arguments is a JSON object with the arguments; empty means that there are none.
	Arguments json.RawMessage
	// Files are the files of an archive that the caller sent in place of a JSON body; see
	// [core.Call].
	Files map[string][]byte
	// IdempotencyKey is the idempotency key that the caller sent, "" if it sent none.
	IdempotencyKey string
	// Confirmation is the confirmation token from an earlier response, "" if the caller sent
	// none.
	Confirmation string
	// ConfirmationForm names the way in which the caller confirms, such as "form" or
	// "argument". A confirmation token for one way is invalid in another.
	ConfirmationForm string
	// Continuation is the JSON that an agent sends to continue after a response that asked
	// for input. It has the input and the request state, a text that the agent repeats from
	// that response. If the caller sent no idempotency key, Continuation is part of the key
	// that is derived instead.
	Continuation json.RawMessage
}

// Result is the result of a call that did not fail.
type Result struct {
	// Value is the operation's result in the form for REST or for agents, whichever surface
	// was called. It is nil if Confirm is set.
	Value any
	// Created is true if the call created a record.
	Created bool
	// Replayed is true if Value is the stored result of an earlier call with the same
	// idempotency key.
	Replayed bool
	// ReplicaLag is how old the data of the result may be, because a replica of the database
	// answered. It is 0 if FromReplica is false.
	ReplicaLag  time.Duration
	FromReplica bool
	// Confirm is set instead of Value if the caller must confirm the call first.
	Confirm *ConfirmationRequired
}

// passage is the state of one call while it goes through the guardrails, the checks and
// steps around an operation.
type passage struct {
	guard *Guard
	op    core.Operation
	info  core.OperationInfo
	req   Request
	call  *core.Call
	at    int // index of the current guardrail in the package variable "order"

	in, out     any
	reservation *reservation
	spend       *confirmation
	confirm     *ConfirmationRequired
	asked       *core.Confirmation // what the call would do, shown to the caller; nil until computed
	confirmed   any                // the input of the operation at the time when the field asked was computed
	replayed    bool
	replica     *core.ReplicaRead // nil if no replica may answer the call
	// byPullRequest is true if the call changes a definition (such as a topic) that the
	// organization's git repository owns. The call then opens a pull request instead.
	byPullRequest bool
}

// rail is one guardrail: a check or step of a call. run either calls p.next, which runs the
// next guardrail, or returns without calling it, which ends the call of the operation.
type rail struct {
	name string
	run  func(ctx context.Context, p *passage) error
}

// order has the guardrails in the order in which they run. init sets it: an initializer
// here would be a cycle, because the guardrails call next, and next reads order.
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

// next runs the guardrail that follows the current one.
func (p *passage) next(ctx context.Context) error {
	p.at++
	return order[p.at].run(ctx, p)
}

// Call runs one call through the guardrails and returns its result. It fails only with a
// *core.Error.
func (o *Operation) Call(ctx context.Context, req Request) (Result, error) {
	g := o.guard
	p := &passage{
		guard: g, op: o.op, info: o.info, req: req, at: -1,
		call: &core.Call{Principal: req.Principal, Surface: req.Surface, RequestID: req.RequestID, Now: g.Clock(), Files: req.Files},
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

// run runs the call through all guardrails. It turns a panic of an operation into an
// internal error, whose log line has the stack. So the call still releases its idempotency
// key and is counted. The result err has a name so that the deferred function can set it.
func (p *passage) run(ctx context.Context) (err error) {
	defer p.call.Finish()
	defer func() {
		if cause := recover(); cause != nil {
			err = core.Internal(fmt.Errorf("panic: %s", core.PanicText(cause)))
		}
	}()
	return p.next(ctx)
}
