package tools

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"go.opentelemetry.io/otel/trace"
)

// exchange is one HTTP request as the prehandler understood it. It travels in
// the request's context, whose values, other than its cancellation, the SDK
// hands on to the tool at every revision.
type exchange struct {
	requestID string
	principal core.Principal
	message   message
	revision  string
	// tool is the name of a tool that exists, "" for other methods.
	tool string
	// arrived is when the request came, if it is traced.
	arrived time.Time
	span    trace.Span // nil when it is not traced
	// failed and truncated say of a tool's result what its metrics need. The
	// tool's goroutine writes them before it answers.
	failed, truncated bool
	// client ends when the client has gone. It is carried here past the SDK,
	// which drops the cancellation of a request's context.
	client context.Context
}

type exchangeKey struct{}

func withExchange(ctx context.Context, x *exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

// exchangeOf is never nil: a context without an exchange has an empty one.
func exchangeOf(ctx context.Context) *exchange {
	if x, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		return x
	}
	return &exchange{client: ctx}
}

// untilGone is ctx, ended also when the client goes away: an answer that nobody
// can receive is not worth finishing, and without sessions there is no way to
// fetch it later. A write that was cut short may be repeated with its key.
func (x *exchange) untilGone(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(x.client, cancel)
	return ctx, func() { stop(); cancel() }
}
