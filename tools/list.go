package tools

import (
	"context"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// listCallable returns middleware that removes from tools/list each tool that the caller
// may not call, because of its scopes or its environment. A test credential, for example,
// does not see destructive tools.
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
