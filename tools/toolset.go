package tools

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"

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
	sorted    []*tool // in the order of their names
	// scopes are the scopes that the tools and their arguments need, for clients without a
	// token.
	scopes core.Scopes
	// places has the paths of all members of a message that may contain any JSON, for all
	// tools together.
	places *core.AnyPaths
}

// mount adds the operation as a tool.
func (s *toolset) mount(op *guardrails.Operation) {
	s.add(newTool(op))
	s.scopes = core.NewScopes(append(s.scopes.Strings(), op.Info().NeededScopes().Strings()...)...)
	s.places = s.places.Union(op.Input(core.Agent).AnyPaths().Nest("params", "arguments"))
}

// add adds a tool, at its place in the order of names.
func (s *toolset) add(t *tool) {
	s.byName[t.name] = t
	at, _ := slices.BinarySearchFunc(s.sorted, t, func(a, b *tool) int { return cmp.Compare(a.name, b.name) })
	s.sorted = slices.Insert(s.sorted, at, t)
}

// decodeCall sets x.call for a tool whose calls the SDK answers. It fails for params that the
// SDK could not decode. The other members were decoded before, so for other tools only the
// answers to forms remain to be checked.
func (x *exchange) decodeCall(t *tool) error {
	if t.op != nil && len(x.message.Params.InputResponses) == 0 {
		return nil
	}
	x.call = new(mcp.CallToolParamsRaw)
	if json.Unmarshal(x.message.RawParams, x.call) != nil {
		return x.message.InvalidParams("each of `inputResponses` must be the result of the request it answers")
	}
	return nil
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
	x.tool = p.Name
	if err := x.decodeCall(t); err != nil {
		return err
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
