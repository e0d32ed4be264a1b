package tools

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.opentelemetry.io/otel/trace"
)

// exchange is the state of one HTTP request, as the prehandler read it. It is stored in the
// request's context.
type exchange struct {
	requestID string
	principal core.Principal
	message   message
	revision  string
	// tool is the name of an existing tool, "" for other methods.
	tool string
	// call has the params of a tool call as the SDK reads them, nil for other methods.
	call *mcp.CallToolParamsRaw
	// arrived is when the request arrived, if it is traced.
	arrived time.Time
	span    trace.Span // nil when it is not traced
	// failed and truncated describe a tool's result for the metrics. The tool's goroutine
	// writes them before it answers.
	failed, truncated bool
	// outage is the failure of Mailhelm's storage during the call, else nil. The tool's
	// goroutine sets it.
	outage *rpcError
	// stream is the answer when it is sent as server-sent events.
	stream eventStream
}

// exchangeKey is the context key of the exchange.
type exchangeKey struct{}

func withExchange(ctx context.Context, x *exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

// exchangeOf returns the exchange of a context, or an empty one. It never returns nil.
func exchangeOf(ctx context.Context) *exchange {
	if x, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		return x
	}
	return new(exchange)
}
