package tools

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/tools/rpc"
	"go.opentelemetry.io/otel/attribute"
)

// These are the names in the metrics for causes of refusals that have no error code of
// their own.
const (
	causeUnknownTool = "unknown_tool"
	causeOrigin      = "foreign_origin"
	causeMediaType   = "media_type"
	causeTooLarge    = "body_too_large"
	causeBody        = "invalid_body"
	causeCallerGone  = "caller_gone"
)

// noteRefusal counts a refusal in the metrics and records it in the request's span.
func (s *Server) noteRefusal(x *exchange, err error) {
	refusal, ok := errors.AsType[*rpc.Error](err)
	if !ok || !refusal.Counted {
		s.cfg.Catalogue.CountRefusal(core.Agent, x.tool, causeOf(err))
		s.cfg.Catalogue.CountRefusedUsage(x.principal, x.tool)
	}
	if x.span == nil {
		return
	}
	if ok {
		code := strconv.FormatInt(refusal.Code, 10)
		x.failSpan(code, attribute.String("rpc.response.status_code", code), attribute.Int("http.response.status_code", refusal.Status))
		return
	}
	e := core.AsError(err)
	x.failSpan(string(e.Code), attribute.Int("http.response.status_code", e.HTTPStatus()))
}

// noteAnswer counts the answer to a tool call, and its length in bytes, in the metrics. If
// the call failed, it marks the request's span as failed instead.
func (s *Server) noteAnswer(x *exchange, bytes int) {
	t, ok := s.tools.byName[x.tool]
	switch {
	case x.failed:
		x.failSpan("tool_error")
	case ok && t.op != nil:
		t.op.CountAnswer(core.Agent, bytes, x.truncated)
	}
}

// causeOf returns the cause of a refusal for the metrics. It is always one of a fixed set
// of names, never a text of the caller.
func causeOf(err error) string {
	if refusal, ok := errors.AsType[*rpc.Error](err); ok {
		return refusal.CauseName()
	}
	e := core.AsError(err)
	if e.Code != core.CodeValidationFailed {
		return string(e.Code)
	}
	switch e.HTTPStatus() {
	case http.StatusForbidden:
		return causeOrigin
	case http.StatusNotAcceptable, http.StatusUnsupportedMediaType:
		return causeMediaType
	case http.StatusRequestEntityTooLarge:
		return causeTooLarge
	case http.StatusBadRequest:
		return causeBody
	}
	return string(e.Code)
}
