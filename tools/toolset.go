package tools

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/tools/rpc"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// toolset has the tools that are served and executes their calls.
type toolset struct {
	catalogue *guardrails.Catalogue
	docsURL   string
	byName    map[string]*tool
	// scopes are the scopes that the tools and their arguments need, for clients without a
	// token.
	scopes core.Scopes
	// places has the paths of all members of a message that may contain any JSON, for all
	// tools together.
	places *core.AnyPaths
}

// mount adds the operation as a tool and returns the tool. It fails if a schema of the
// operation cannot be converted.
func (s *toolset) mount(op *guardrails.Operation) (*tool, error) {
	t, err := newTool(op)
	if err != nil {
		return nil, fmt.Errorf("tool %s: %w", op.Info().Name, err)
	}
	s.byName[t.described.Name] = t
	s.scopes = core.NewScopes(append(s.scopes.Strings(), op.Info().NeededScopes().Strings()...)...)
	s.places = s.places.Union(op.Input(core.Agent).AnyPaths().Nest("params", "arguments"))
	return t, nil
}

// checkCall fails for an unknown tool, invalid params or a missing scope. These refusals
// have their own HTTP status, which a tool's handler cannot set.
func (s *toolset) checkCall(x *exchange) error {
	p := &x.message.Params
	t, ok := s.byName[p.Name]
	if !ok {
		refusal := x.message.InvalidParams("there is no tool `" + core.Quotable(p.Name, 80) + "`; tools/list returns the tools that this credential may call")
		refusal.Cause = causeUnknownTool
		return refusal
	}
	x.tool, x.call = p.Name, new(mcp.CallToolParamsRaw)
	if json.Unmarshal(x.message.RawParams, x.call) != nil {
		return x.message.InvalidParams("each of `inputResponses` must be the result of the request it answers")
	}
	refusal := core.AsError(t.checkAllowed(x.principal))
	if refusal != nil && refusal.Code == core.CodeInvalidScope {
		return refusal
	}
	return nil // a tool that the credential's environment forbids is refused later, with a tool error
}

// outage returns the JSON-RPC error for a failure of Mailhelm's storage. It is not a tool
// error, because the server failed and not the tool. Its data is the problem document.
func (s *toolset) outage(x *exchange, err error) *rpc.Error {
	p := core.ProblemOf(err, s.docsURL, x.requestID)
	p.NextStep = hintOf(core.AsError(err))
	return &rpc.Error{
		ID: x.message.ID, Status: http.StatusOK, Code: jsonrpc.CodeInternalError, Message: p.Detail + " " + p.NextStep,
		Data: p, Cause: string(p.Code), RetryAfter: p.RetryAfter,
	}
}
