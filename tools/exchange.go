package tools

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.opentelemetry.io/otel/trace"
)

// exchange is one HTTP request as the prehandler read it. It travels in the request's
// context.
type exchange struct {
	requestID string
	principal core.Principal
	message   message
	revision  string
	// tool is the name of a tool that exists, "" for other methods.
	tool string
	// call is the params of a tool's call as the SDK reads them, nil for other methods.
	call *mcp.CallToolParamsRaw
	// arrived is when the request arrived, if it is traced.
	arrived time.Time
	span    trace.Span // nil when it is not traced
	// failed and truncated describe a tool's result for the metrics. The tool's goroutine
	// writes them before it answers.
	failed, truncated bool
	// outage is set by the tool's goroutine when Mailhelm's storage failed the call.
	outage *rpcError
	// stream is the answer, if it is one of events.
	stream eventStream
}

type exchangeKey struct{}

func withExchange(ctx context.Context, x *exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

// exchangeOf returns the exchange of a context, never nil: an empty one when the context has
// none.
func exchangeOf(ctx context.Context) *exchange {
	if x, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		return x
	}
	return new(exchange)
}
