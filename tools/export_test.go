package tools

import (
	"context"
	"net/http"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// BySDK returns a handler with the same tools that passes every request to the SDK, as a
// message. Tests compare its answers with those that the endpoint gives without the SDK.
func (s *Server) BySDK() (http.Handler, error) {
	by := *s
	var err error
	if by.protocol, err = newProtocol(s.tools, s.protocol.name.Version, s.protocol.log); err != nil {
		return nil, err
	}
	by.protocol.sdk.AddReceivingMiddleware(by.listCallable)
	for _, t := range s.tools.sorted {
		described, err := describe(t.op)
		if err != nil {
			return nil, err
		}
		by.protocol.sdk.AddTool(described, by.sdkHandler(t))
	}
	by.answer = func(w http.ResponseWriter, r *http.Request, x *exchange) error {
		x.call = nil // the SDK decodes the params
		return by.passToSDK(w, r, x)
	}
	return &by, nil
}

// listCallable removes from tools/list the tools that the caller may not call.
func (s *Server) listCallable(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, req)
		if list, ok := result.(*mcp.ListToolsResult); ok && err == nil {
			caller := exchangeOf(ctx).principal
			list.Tools = slices.DeleteFunc(list.Tools, func(listed *mcp.Tool) bool {
				return s.tools.byName[listed.Name].checkAllowed(caller) != nil
			})
		}
		return result, err
	}
}

// sdkHandler returns the SDK's handler of a tool with an operation.
func (s *Server) sdkHandler(t *tool) mcp.ToolHandler {
	return func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		x := exchangeOf(ctx)
		r := s.tools.call(ctx, t, x)
		if x.outage != nil {
			return nil, &jsonrpc.Error{Code: x.outage.Code, Message: x.outage.Message}
		}
		result := &mcp.CallToolResult{Meta: mcp.Meta{metaRequestID: x.requestID}, IsError: r.failed}
		if r.form != nil {
			result.Content, result.RequestState = []mcp.Content{}, r.form.state
			result.InputRequests = mcp.InputRequestMap{confirmForm: &mcp.ElicitParams{
				Mode: "form", Message: r.form.message, RequestedSchema: confirmSchema,
			}}
			return result, nil
		}
		result.Content, result.StructuredContent = []mcp.Content{&mcp.TextContent{Text: r.text}}, r.structured
		if r.hidden > 0 {
			result.Meta[metaHidden] = r.hidden
		}
		if len(r.untrusted) > 0 {
			result.Meta[metaUntrusted] = r.untrusted
		}
		if r.replayed {
			result.Meta[metaReplay] = true
			result.Content = append(result.Content, &mcp.TextContent{Text: replayedNote})
		}
		return result, nil
	}
}
