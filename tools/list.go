package tools

import (
	"context"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// listCallable keeps tools/list to what the caller may call: a tool is listed if
// and only if neither the scopes nor the environment rail would refuse it, so a
// test credential is not shown what destroys. The order is that of the names.
func (s *Server) listCallable(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, req)
		list, ok := result.(*mcp.ListToolsResult)
		if err != nil || !ok {
			return result, err
		}
		caller := exchangeOf(ctx).principal
		list.Tools = slices.DeleteFunc(list.Tools, func(listed *mcp.Tool) bool {
			t, ours := s.tools[listed.Name]
			return ours && t.allowed(caller) != nil
		})
		return list, nil
	}
}
