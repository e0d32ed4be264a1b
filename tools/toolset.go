package tools

import (
	"fmt"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// toolset holds the mounted tools and carries out their calls.
type toolset struct {
	catalogue *guardrails.Catalogue
	docsURL   string
	byName    map[string]*tool
	// places are those of a message where any JSON may stand, for all tools.
	places *core.Places
}

// mount adds the operation and returns its tool.
func (s *toolset) mount(op *guardrails.Operation) (*tool, error) {
	t, err := newTool(op)
	if err != nil {
		return nil, fmt.Errorf("tool %s: %w", op.Info().Name, err)
	}
	s.byName[t.described.Name] = t
	s.places = s.places.With(op.Input(core.Agent).Places().Below("params", "arguments"))
	return t, nil
}

// outage returns a failure of Mailhelm's storage as a JSON-RPC error: the server failed, not
// the tool. Its data are those of the problem document.
func (s *toolset) outage(x *exchange, err error) *rpcError {
	p := core.ProblemOf(err, s.docsURL, x.requestID)
	p.NextStep = hintOf(core.AsError(err))
	return &rpcError{
		id: x.message.id, status: http.StatusOK, code: jsonrpc.CodeInternalError, message: p.Detail + " " + p.NextStep,
		data: p, cause: string(p.Code), retryAfter: p.RetryAfter,
	}
}
