package tools

import (
	"context"
	"maps"
	"net/http"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/tools/rpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.opentelemetry.io/otel/trace"
)

// exchange is the state of one HTTP request to the agent endpoint. The checks in
// prehandler.go fill it and store it in the request's context.
type exchange struct {
	requestID string
	principal core.Principal
	// refused has the caller of a call above the rate limit, else it is empty.
	refused guardrails.Admission
	message rpc.Message
	// tool is the name of the called tool. It is "" for an unknown tool and for other
	// methods than a tool call.
	tool string
	// call has the params of a tool call in the SDK's type; nil for other methods.
	call *mcp.CallToolParamsRaw
	// arrived is the time at which the request arrived. It is set only if the request is
	// traced.
	arrived time.Time
	span    trace.Span // nil if the request is not traced
	// failed and truncated describe the result of the tool, for the metrics. The tool's
	// goroutine sets them before it answers.
	failed, truncated bool
	// fromReplica has the header of an answer that a replica of the database gave, else it is
	// empty. The tool's goroutine sets it.
	fromReplica http.Header
	// outage is the JSON-RPC error for a failure of Mailhelm's storage during the call, else
	// nil. The tool's goroutine sets it.
	outage *rpc.Error
	// stream writes the answer if it is sent as server-sent events.
	stream eventStream
}

// noteReplica keeps the headers of a result for showReplica.
func (x *exchange) noteReplica(result guardrails.Result) {
	if result.FromReplica {
		x.fromReplica = http.Header{}
		result.Headers(x.fromReplica.Set)
	}
}

// showReplica sets the header of an answer that a replica of the database gave. All protocol
// revisions allow further headers, and an answer that has begun as a stream cannot have them.
func (x *exchange) showReplica(w http.ResponseWriter) { maps.Copy(w.Header(), x.fromReplica) }

// exchangeKey is the key under which a request's context stores its exchange.
type exchangeKey struct{}

func withExchange(ctx context.Context, x *exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

// exchangeOf returns the exchange (the state of a request to the agent endpoint) that the
// context stores. If the context has none, it returns a new empty exchange, never nil.
func exchangeOf(ctx context.Context) *exchange {
	if x, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		return x
	}
	return new(exchange)
}
