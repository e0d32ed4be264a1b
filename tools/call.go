package tools

import (
	"context"
	"encoding/json"
	"maps"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// handler calls t's operation. It reads the call from the exchange, not from
// the SDK's request: the prehandler's reading is the one that was checked.
func (s *Server) handler(t *tool) mcp.ToolHandler {
	return func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		x := exchangeOf(ctx)
		ctx, release := x.untilGone(ctx)
		defer release()
		return s.call(ctx, t, x), nil
	}
}

func (s *Server) call(ctx context.Context, t *tool, x *exchange) *mcp.CallToolResult {
	req, err := requestOf(t, x)
	if err != nil {
		return s.failure(x, err)
	}
	if t.confirms && x.declines() {
		return s.declined(x)
	}
	result, err := t.op.Call(ctx, req)
	switch {
	case err != nil:
		return s.failure(x, err)
	case result.Confirm != nil:
		return s.askFor(x, result.Confirm)
	default:
		return s.success(x, result)
	}
}

// requestOf is the call as the rails take it.
func requestOf(t *tool, x *exchange) (guardrails.Request, error) {
	p := &x.message.params
	key, err := idempotencyKey(p.Meta.IdempotencyKey)
	if err != nil {
		return guardrails.Request{}, err
	}
	req := guardrails.Request{
		Principal: x.principal, Surface: core.Agent, RequestID: x.requestID,
		Arguments:      argumentsOf(p.Arguments),
		IdempotencyKey: key,
		Continuation:   continuationOf(p),
	}
	if t.confirms {
		req.Arguments, req.Confirmation, err = x.confirmation(req.Arguments)
	}
	return req, err
}

// argumentsOf: some clients write null for no arguments.
func argumentsOf(raw jsontext.Value) json.RawMessage {
	if raw.Kind() == 'n' {
		return nil
	}
	return json.RawMessage(raw)
}

func idempotencyKey(raw jsontext.Value) (string, error) {
	if raw == nil {
		return "", nil
	}
	var key string
	if raw.Kind() != '"' || jsonv2.Unmarshal(raw, &key) != nil || key == "" || len(key) > 255 {
		return "", core.Invalid("_meta."+metaIdempotencyKey, "must be a string of 1 to 255 characters")
	}
	return key, nil
}

// continuationOf is what continues an earlier answer, nil when nothing does.
func continuationOf(p *params) json.RawMessage {
	if p.RequestState == "" && len(p.InputResponses) == 0 {
		return nil
	}
	raw, err := jsonv2.Marshal(struct {
		State     string                    `json:"requestState"`
		Responses map[string]jsontext.Value `json:"inputResponses"`
	}{p.RequestState, p.InputResponses}, jsonv2.Deterministic(true))
	if err != nil {
		return nil // strings and JSON that was read always marshal
	}
	return raw
}

func (s *Server) success(x *exchange, result guardrails.Result) *mcp.CallToolResult {
	value, err := marshal(result.Value)
	if err != nil {
		return s.failure(x, core.Internal(err))
	}
	answer := x.result(string(value), value)
	if result.Replayed {
		answer.Meta[metaReplay] = true
	}
	return answer
}

// failure is the problem document as a result, with the two members that agents
// read first, and the same in a sentence.
func (s *Server) failure(x *exchange, err error) *mcp.CallToolResult {
	p := core.ProblemOf(err, s.cfg.DocsURL, x.requestID)
	extra := maps.Clone(p.Extra)
	if extra == nil {
		extra = make(map[string]any, 2)
	}
	hint := hintOf(core.AsError(err))
	extra["message"], extra["hint"] = p.Detail, hint
	p.Extra = extra
	value, marshalErr := marshal(p)
	if marshalErr != nil { // only an extra member can fail to be written
		p.Extra = map[string]any{"message": p.Detail, "hint": hint}
		value, _ = marshal(p)
	}
	answer := x.result(p.Detail+" "+hint, value)
	answer.IsError = true
	return answer
}

// result is a fresh result; the SDK writes into the one it is given.
func (x *exchange) result(text string, structured json.RawMessage) *mcp.CallToolResult {
	answer := &mcp.CallToolResult{Meta: mcp.Meta{metaRequestID: x.requestID}, StructuredContent: structured}
	visible, removed := core.VisibleText(text)
	if removed > 0 {
		answer.Meta[metaHidden] = removed
	}
	answer.Content = []mcp.Content{&mcp.TextContent{Text: visible}}
	return answer
}
