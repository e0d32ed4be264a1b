package tools

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/mailhelm/mailhelm/core"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// recoverPanic is the middleware that recovers panics. The SDK runs a call on its own
// goroutine, where a panic would end the process. Here it ends only the call. The rails
// recover panics of operations; this recovers those of the code around them.
func (p *protocol) recoverPanic(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		var result mcp.Result
		var err error
		func() {
			defer func() {
				if v := recover(); v != nil {
					result, err = p.panicResult(ctx, v)
				}
			}()
			result, err = next(ctx, method, req)
		}()
		return result, err
	}
}

// panicResult returns the answer after a panic: the failed result of a tool call, or an
// internal error of the protocol.
func (p *protocol) panicResult(ctx context.Context, v any) (mcp.Result, error) {
	x := exchangeOf(ctx)
	p.logPanic(ctx, x, v)
	if x.tool == "" {
		return nil, x.internalError()
	}
	failure := core.Internal(nil)
	p.tools.catalogue.CountRefusal(core.Agent, x.tool, string(failure.Code))
	failed := p.tools.failure(x, failure)
	p.sign(x, failed)
	return failed, nil
}

// encode marshals a result. It recovers a panic of a marshaller, because it runs outside the
// middleware but on the same goroutine.
func (p *protocol) encode(ctx context.Context, result mcp.Result) (json.RawMessage, error) {
	var encoded json.RawMessage
	var err error
	func() {
		defer func() {
			if v := recover(); v != nil {
				x := exchangeOf(ctx)
				p.logPanic(ctx, x, v)
				err = x.internalError()
			}
		}()
		encoded, err = json.Marshal(result)
	}()
	return encoded, err
}

// logPanic logs the panic with its stack, and the ids of the request.
func (p *protocol) logPanic(ctx context.Context, x *exchange, v any) {
	p.log.LogAttrs(ctx, slog.LevelError, "panic",
		slog.String("request_id", x.requestID), slog.String("surface", string(core.Agent)), slog.String("operation", x.tool),
		slog.String("panic", core.PanicText(v)))
}

// internalError returns internal_error as a JSON-RPC error.
func (x *exchange) internalError() *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: core.Internal(nil).Message + " Request id: " + x.requestID}
}
