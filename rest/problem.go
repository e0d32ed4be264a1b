package rest

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// WriteProblem answers with a problem document (RFC 7807) and the headers that
// belong to it.
func WriteProblem(w http.ResponseWriter, p core.Problem) {
	h := w.Header()
	h.Set("Cache-Control", noStore)
	if p.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(p.RetryAfter))
	}
	body, err := json.Marshal(p)
	if err != nil {
		// Only an extra member can fail to marshal. Without it the document is still valid.
		p.Extra = nil
		body, _ = json.Marshal(p)
	}
	write(w, "application/problem+json", p.Status, body)
}

// problem answers an error of a call that the rails have logged. When the caller
// disconnected, it closes the connection. A caller who only stopped sending would otherwise
// take the cancellation for a fault of the server.
func (s *Server) problem(c *gin.Context, m *mount, err error) {
	if core.IsCallerGone(c.Request.Context(), err) {
		panic(http.ErrAbortHandler)
	}
	e := core.AsError(err)
	if status := e.HTTPStatus(); m != nil && (status == http.StatusUnauthorized || e.Code == core.CodeInvalidScope) {
		_, presented := c.Request.Header["Authorization"]
		c.Writer.Header().Set("WWW-Authenticate", s.challenge(m, e, presented).String())
	}
	WriteProblem(c.Writer, core.ProblemOf(e, s.cfg.DocsURL, requestID(c)))
}

// refuse logs and answers an error outside the rails. The log has the route's pattern,
// never the path, because paths contain addresses.
func (s *Server) refuse(c *gin.Context, m *mount, err error) {
	e := core.AsError(err)
	level, outcome := slog.LevelInfo, string(e.Code)
	gone := core.IsCallerGone(c.Request.Context(), e)
	if gone {
		outcome = "caller_gone"
	}
	attrs := []slog.Attr{
		slog.String("request_id", requestID(c)),
		slog.String("surface", string(core.REST)),
		slog.String("method", knownMethod(c.Request.Method)),
		slog.String("route", s.routeOf(c, m)),
		slog.Int("status", e.HTTPStatus()),
		slog.String("outcome", outcome),
	}
	if e.IsFault() && !gone {
		level = slog.LevelError
		attrs = append(attrs, slog.String("cause", e.Error()))
	}
	s.cfg.Log.LogAttrs(c.Request.Context(), level, "request refused", attrs...)
	if !gone { // a caller who left was not refused
		s.cfg.Catalogue.CountRefusal(core.REST, operationOf(m), causeOf(e))
	}
	s.problem(c, m, e)
}

// operationOf returns the name of the route's operation, "" without a route.
func operationOf(m *mount) string {
	if m == nil {
		return ""
	}
	return m.Operation
}

// causeOf returns the cause for the metrics. For refusals of the request's form it is the
// status, which is more specific than the code.
func causeOf(e *core.Error) string {
	if e.Code != core.CodeValidationFailed {
		return string(e.Code)
	}
	switch e.HTTPStatus() {
	case http.StatusUnsupportedMediaType, http.StatusNotAcceptable:
		return "media_type"
	case http.StatusRequestEntityTooLarge:
		return "body_too_large"
	}
	return string(e.Code)
}

// routeOf returns the path pattern of the route, "" for a path without a route.
func (s *Server) routeOf(c *gin.Context, m *mount) string {
	if m != nil {
		return m.Path
	}
	return s.pattern(c)
}

// otherMethod replaces unknown methods in logs and metrics.
const otherMethod = "other"

// knownMethod returns a method that HTTP defines, or otherMethod. Callers can invent
// methods, which must not reach the log.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return otherMethod
}

// answerNoRoute answers 404 for a path without a route.
func (s *Server) answerNoRoute(c *gin.Context) {
	s.refuseUnserved(c, &core.Error{
		Code: core.CodeNotFound, Resource: "path",
		Message: "The public API has no such path.",
		Next:    "`GET /v1/openapi.json` lists the paths. An address in a path is one percent-encoded segment.",
	})
}

// answerNoMethod answers 405. The router has already set Allow.
func (s *Server) answerNoMethod(c *gin.Context) {
	s.refuseUnserved(c, &core.Error{
		Code:    core.CodeMethodNotAllowed,
		Message: "The path does not take this method; it takes " + c.Writer.Header().Get("Allow") + ".",
	})
}

// refuseUnserved answers a request without a route. With a valid credential, the request
// counts against the rate limit, and the answer has the limit's headers. With an invalid
// credential, the answer is the same as without one.
func (s *Server) refuseUnserved(c *gin.Context, e *core.Error) {
	if authorization := c.Request.Header["Authorization"]; authorization != nil {
		admission, err := s.cfg.Catalogue.Admit(c.Request.Context(), authorization, access.API)
		admission.Rate.Headers(c.Writer.Header().Set)
		if refused := core.AsError(err); err != nil && refused.Code == core.CodeRateLimited {
			e = refused
		}
	}
	s.refuse(c, nil, e)
}

// recoverPanic answers a panic with internal_error, so that it ends one request and not the
// process. It passes on http.ErrAbortHandler, which aborts a response.
func (s *Server) recoverPanic(c *gin.Context) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			panic(v)
		}
		s.cfg.Log.LogAttrs(c.Request.Context(), slog.LevelError, "panic",
			slog.String("request_id", requestID(c)), slog.String("route", s.pattern(c)),
			slog.String("panic", core.PanicText(v)))
		if c.Writer.Written() {
			panic(http.ErrAbortHandler) // half an answer must not look like a whole one
		}
		s.cfg.Catalogue.CountRefusal(core.REST, "", string(core.CodeInternalError))
		s.problem(c, nil, core.Internal(nil))
	}()
	c.Next()
}
