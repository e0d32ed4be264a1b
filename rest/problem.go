package rest

import (
	"cmp"
	"errors"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/guardrails"
)

// problemSize is the size of most problem documents.
const problemSize = 512

// WriteProblem writes an error as a problem document (RFC 7807), with its status and its
// headers.
func WriteProblem(w http.ResponseWriter, p core.Problem) {
	h := w.Header()
	h.Set("Cache-Control", noStore)
	if p.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(p.RetryAfter))
	}
	body, err := p.AppendJSON(make([]byte, 0, problemSize))
	if err != nil {
		// Only a value in Extra can fail to encode. Without Extra the document is still
		// valid.
		p.Extra = nil
		body, _ = p.AppendJSON(nil)
	}
	write(w, "application/problem+json", p.Status, body)
}

// problem answers with an error that is already in the log. If the request was cancelled and
// the error is a result of that, problem closes the connection without an answer. A client
// that has closed only its own half of the connection would read the answer, and would take
// the cancellation for an internal error of the server.
func (s *Server) problem(c *gin.Context, m *mount, err error) {
	if core.IsCallerGone(c.Request.Context(), err) {
		panic(http.ErrAbortHandler)
	}
	e := core.AsError(err)
	if status := e.HTTPStatus(); m != nil && (status == http.StatusUnauthorized || e.Code == core.CodeInvalidScope) {
		_, presented := c.Request.Header["Authorization"]
		c.Writer.Header().Set("WWW-Authenticate", s.resource.Challenge(e, cmp.Or(m.needs, string(e.Scope)), presented).String())
	}
	WriteProblem(c.Writer, core.ProblemOf(e, s.cfg.DocsURL, requestID(c)))
}

// refuse logs an error that occurred outside the guardrails and answers with it. The log
// has the pattern of the route and never the path, because paths contain email addresses.
func (s *Server) refuse(c *gin.Context, m *mount, err error) {
	s.refuseCaller(c, m, guardrails.Admission{}, err)
}

// refuseCaller is refuse for the error with which a caller was not admitted. Of calls above the
// rate limit only some are logged; the metrics count all.
func (s *Server) refuseCaller(c *gin.Context, m *mount, a guardrails.Admission, err error) {
	e := core.AsError(err)
	gone := core.IsCallerGone(c.Request.Context(), e)
	if !a.Unlogged {
		level, attrs := refusalLine(c, s.routeOf(c, m), e, gone)
		s.cfg.Log.LogAttrs(c.Request.Context(), level, "request refused", append(attrs, a.LogAttrs()...)...)
	}
	if !gone { // a disconnect of the client is not counted as a refusal
		s.cfg.Catalogue.CountRefusal(core.REST, operationOf(m), causeOf(e))
	}
	s.problem(c, m, e)
}

// refusalLine returns the level and the attributes of the log line of a refusal. gone is true if
// the caller has disconnected.
func refusalLine(c *gin.Context, route string, e *core.Error, gone bool) (slog.Level, []slog.Attr) {
	level, outcome := slog.LevelInfo, string(e.Code)
	if gone {
		outcome = "caller_gone"
	}
	attrs := []slog.Attr{
		slog.String("request_id", requestID(c)),
		slog.String("surface", string(core.REST)),
		slog.String("method", knownMethod(c.Request.Method)),
		slog.String("route", route),
		slog.Int("status", e.HTTPStatus()),
		slog.String("outcome", outcome),
	}
	if e.IsFault() && !gone {
		level = slog.LevelError
		attrs = append(attrs, slog.String("cause", e.Error()))
	}
	return level, attrs
}

// operationOf returns the name of the route's operation, or "" without a route.
func operationOf(m *mount) string {
	if m == nil {
		return ""
	}
	return m.Operation
}

// causeOf returns the value of the metrics label for an error: its code. For an unaccepted
// media type and for a body that is too large it is a more specific word.
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

// routeOf returns the path pattern of the request's route, or "" if the path has no route.
func (s *Server) routeOf(c *gin.Context, m *mount) string {
	if m != nil {
		return m.Path
	}
	return s.pattern(c)
}

// otherMethod stands for all unknown HTTP methods in logs and metrics.
const otherMethod = "other"

// knownMethod returns the HTTP method if it is a standard one, and otherMethod otherwise.
// Callers can invent methods, and their text must not reach the log.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return otherMethod
}

// answerNoRoute answers with 404 if the path has no route.
func (s *Server) answerNoRoute(c *gin.Context) {
	s.refuseUnserved(c, &core.Error{
		Code: core.CodeNotFound, Resource: "path",
		Message: "The public API has no such path.",
		Next:    "`GET /v1/openapi.json` lists the paths. An address in a path is one percent-encoded segment.",
	})
}

// answerNoMethod answers with 405 if the path has no route for the method. The router has
// already set the header Allow.
func (s *Server) answerNoMethod(c *gin.Context) {
	s.refuseUnserved(c, &core.Error{
		Code:    core.CodeMethodNotAllowed,
		Message: "The path does not allow this method; it allows " + c.Writer.Header().Get("Allow") + ".",
	})
}

// refuseUnserved answers a request that has no route. With a valid credential, the request
// counts against the rate limit and the answer has the rate headers. With an invalid
// credential, the answer is the same as without one.
func (s *Server) refuseUnserved(c *gin.Context, e *core.Error) {
	if authorization := c.Request.Header["Authorization"]; authorization != nil {
		admission, err := s.cfg.Catalogue.Admit(c.Request.Context(), authorization, access.API)
		admission.Rate.Headers(c.Writer.Header())
		if refused := core.AsError(err); err != nil && refused.Code == core.CodeRateLimited {
			s.refuseCaller(c, nil, admission, refused)
			return
		}
	}
	s.refuse(c, nil, e)
}

// recoverPanic is the middleware that answers a panic with internal_error and logs where it
// happened. A panic with http.ErrAbortHandler means that the response must be aborted, so
// recoverPanic panics with it again.
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
			panic(http.ErrAbortHandler) // abort, so that a partial response does not look complete
		}
		s.cfg.Catalogue.CountRefusal(core.REST, "", string(core.CodeInternalError))
		s.problem(c, nil, core.Internal(nil))
	}()
	c.Next()
}
