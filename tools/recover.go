package tools

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/mailhelm/mailhelm/core"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// recoverPanic is middleware that recovers panics in the handling of an MCP request. Panics
// of the operations themselves are recovered by package guardrails. Each MCP request is
// handled outside the goroutine of net/http, where an unrecovered panic would end the
// process. With recoverPanic, a panic ends only the call.
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

// panicResult returns the answer after a panic: a failed tool result for a tool call,
// otherwise a JSON-RPC error.
func (p *protocol) panicResult(ctx context.Context, v any) (mcp.Result, error) {
	x := exchangeOf(ctx)
	if x.tool == "" {
		p.logPanic(ctx, x, v)
		return nil, x.internalError()
	}
	failed := sdkResult(p.failedByPanic(ctx, x, v), x.requestID)
	p.sign(x, failed)
	return failed, nil
}

// failedByPanic logs and counts a panic during a tool call, and returns its result.
func (p *protocol) failedByPanic(ctx context.Context, x *exchange, v any) *toolResult {
	p.logPanic(ctx, x, v)
	failure := core.Internal(nil)
	p.tools.catalogue.CountRefusal(core.Agent, x.tool, string(failure.Code))
	return p.tools.failure(x, failure)
}

// sdkResult returns a failed result in the SDK's type, for a tool whose calls the SDK answers.
func sdkResult(r *toolResult, requestID string) *mcp.CallToolResult {
	return &mcp.CallToolResult{
		Meta: mcp.Meta{metaRequestID: requestID}, Content: []mcp.Content{&mcp.TextContent{Text: r.text}},
		StructuredContent: r.structured, IsError: r.failed,
	}
}

// encode marshals a result. It returns an error if a marshaller panics, because encode runs
// outside the middleware that recovers panics.
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

// logPanic logs a panic with its stack, the request's id and the called tool.
func (p *protocol) logPanic(ctx context.Context, x *exchange, v any) {
	p.log.LogAttrs(ctx, slog.LevelError, "panic",
		slog.String("request_id", x.requestID), slog.String("surface", string(core.Agent)), slog.String("operation", x.tool),
		slog.String("panic", core.PanicText(v)))
}

// internalError returns a JSON-RPC error for an internal failure, with the request id.
func (x *exchange) internalError() *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: core.Internal(nil).Message + " Request id: " + x.requestID}
}
