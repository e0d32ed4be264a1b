package tools

import (
	"context"
	"encoding/json"
	"maps"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/tools/content"
	"github.com/mailhelm/mailhelm/tools/rpc"
)

// call executes a tool call and returns its result. It reads the call from the exchange. If
// Mailhelm's storage fails, it returns nil and stores the JSON-RPC error in x.outage. ctx
// also ends when the client disconnects, because without sessions a client cannot fetch the
// answer later. A client may repeat an interrupted write with its idempotency key.
func (s *toolset) call(ctx context.Context, t *tool, x *exchange) *toolResult {
	req, err := requestOf(t, x)
	if err != nil {
		s.catalogue.CountRefusal(core.Agent, x.tool, string(core.AsError(err).Code))
		return s.failure(x, err)
	}
	if t.confirms && x.declines() {
		t.op.CountDecline()
		return declinedResult()
	}
	result, err := t.op.Call(ctx, req)
	switch {
	case err != nil && core.AsError(err).Code == core.CodeTemporarilyUnavailable:
		x.outage = s.outage(x, err)
		x.outage.Counted = true
		return nil
	case err != nil:
		return s.failure(x, err)
	case result.Confirm != nil:
		return s.askFor(x, result.Confirm)
	default:
		x.noteReplica(result)
		return s.success(x, t, result)
	}
}

// requestOf converts the tool call to a request for package guardrails, which checks and
// executes it. It fails for an invalid idempotency key or confirmation.
func requestOf(t *tool, x *exchange) (guardrails.Request, error) {
	p := &x.message.Params
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
		req.ConfirmationForm = x.confirmationForm()
	}
	return req, err
}

// argumentsOf returns the arguments of a call. It returns nil for null, which some clients
// send if there are no arguments.
func argumentsOf(raw jsontext.Value) json.RawMessage {
	if raw.Kind() == 'n' {
		return nil
	}
	return json.RawMessage(raw)
}

// idempotencyKey returns the idempotency key in _meta, or "" if there is none. It fails for
// a value other than a string of 1 to 255 bytes.
func idempotencyKey(raw jsontext.Value) (string, error) {
	if raw == nil {
		return "", nil
	}
	var key string
	if raw.Kind() != '"' || jsonv2.Unmarshal(raw, &key) != nil || key == "" || len(key) > 255 {
		return "", core.Invalid("_meta."+rpc.MetaIdempotencyKey, "must be a string of 1 to 255 characters")
	}
	return key, nil
}

// continuationOf returns, as JSON, what a client sends to continue a call that the server
// answered with a form. That is the request state, which the server sent with the form, and
// the responses to the form. It returns nil for a first call.
func continuationOf(p *rpc.Params) json.RawMessage {
	if p.RequestState == "" && len(p.InputResponses) == 0 {
		return nil
	}
	raw, err := jsonv2.Marshal(struct {
		State     string                    `json:"requestState"`
		Responses map[string]jsontext.Value `json:"inputResponses"`
	}{p.RequestState, p.InputResponses}, jsonv2.Deterministic(true))
	if err != nil {
		return nil // cannot happen: all values were parsed from JSON, so they can be encoded as JSON
	}
	return raw
}

// success returns the result of a successful call. Its structured content is the
// operation's value, shortened to [content.MaxBytes]. Its text is the same JSON without
// invisible characters.
func (s *toolset) success(x *exchange, t *tool, result guardrails.Result) *toolResult {
	value, err := content.Marshal(result.Value)
	if err != nil {
		return s.failure(x, core.Internal(err))
	}
	limit := content.MaxBytes
	if result.Replayed {
		limit -= content.WireLength([]byte(replayedMember))
	}
	untrusted := t.untrusted()
	short := content.Shrink(value, untrusted, limit)
	x.truncated = len(short) != len(value)
	if result.Replayed {
		short = withReplayed(short)
	}
	text, hidden := content.VisibleJSON(short)
	if sample, ok := result.Value.(guardrails.Truncated); ok {
		x.truncated = x.truncated || sample.WasTruncated()
	}
	return &toolResult{text: text, hidden: hidden, structured: short, untrusted: untrusted, replayed: result.Replayed}
}

// maxSentence is the maximum length of the text of a failed call, in characters. The
// structured content has the full text.
const maxSentence = 4000

// failure returns a failed tool result. Its structured content is the problem document with
// up to three more members. The members message and hint are those that agents read first;
// next_step is a call that repairs the fault, if there is one. The text of the result says
// the same in sentences.
func (s *toolset) failure(x *exchange, err error) *toolResult {
	p := core.ProblemOf(err, s.docsURL, x.requestID)
	extra := maps.Clone(p.Extra)
	if extra == nil {
		extra = make(map[string]any, 2)
	}
	e := core.AsError(err)
	hint, next := hintOf(e), s.nextCall(x, e)
	extra["message"], extra["hint"] = p.Detail, hint
	if next != nil {
		extra["next_step"] = next
	}
	p.Extra, p.NextStep = extra, ""
	value, marshalErr := content.Marshal(p)
	// only a member of Extra can fail to encode, so encode again with only message and hint
	// in Extra
	if marshalErr != nil {
		p.Extra = map[string]any{"message": p.Detail, "hint": hint}
		value, _ = content.Marshal(p)
	}
	answer := newToolResult(content.Clip(p.Detail+" "+hint+x.sentence(next), maxSentence), content.Shrink(value, nil, content.MaxBytes))
	answer.untrusted = e.UntrustedExtra()
	if next != nil && len(next.Arguments) > 0 {
		answer.untrusted = append(answer.untrusted, "next_step.arguments")
	}
	answer.failed, x.failed = true, true
	return answer
}
