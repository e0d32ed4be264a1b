package tools

import (
	"context"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// listCallable returns middleware that limits tools/list to the tools that the caller may
// call. A tool is listed if and only if the scopes rail and the environment rail would admit
// the call. So a test credential does not see destructive tools. Tools are sorted by name.
func (p *protocol) listCallable(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, req)
		list, ok := result.(*mcp.ListToolsResult)
		if err != nil || !ok {
			return result, err
		}
		caller := exchangeOf(ctx).principal
		list.Tools = slices.DeleteFunc(list.Tools, func(listed *mcp.Tool) bool {
			t, ours := p.tools.byName[listed.Name]
			return ours && t.checkAllowed(caller) != nil
		})
		return list, nil
	}
}
