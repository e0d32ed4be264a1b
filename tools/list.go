package tools

import (
	"context"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// listCallable limits tools/list to what the caller may call: a tool is listed if and only
// if the scopes and environment rails would admit it. So a test credential does not see
// tools that destroy. The order is that of the names.
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
