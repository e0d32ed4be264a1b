package tools

import (
	"errors"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bearer"
	"github.com/mailhelm/mailhelm/tools/rpc"
)

// refuse answers a request for which no operation was executed. The answer is the error
// err, which refuse also counts and logs. Of calls above a rate limit it logs only some. If the client has disconnected, it closes the
// connection instead.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, x *exchange, err error) {
	if r.Method == http.MethodPost && r.URL.Path == endpointPath {
		r = s.spans.start(r, x)
	}
	refusal, ok := errors.AsType[*rpc.Error](err)
	if !ok && core.IsCallerGone(r.Context(), err) {
		x.failSpan(causeCallerGone)
		s.logRefusal(r, x, slog.LevelInfo, causeCallerGone, 0)
		panic(http.ErrAbortHandler)
	}
	s.noteRefusal(x, err)
	if ok {
		s.logRefusal(r, x, slog.LevelInfo, strconv.FormatInt(refusal.Code, 10), refusal.Status)
		writeRPCError(w, refusal)
		return
	}
	e := core.AsError(err)
	if e.IsFault() {
		s.logRefusal(r, x, slog.LevelError, string(e.Code), e.HTTPStatus(), slog.String("cause", e.Error()))
	} else if !x.refused.Unlogged {
		s.logRefusal(r, x, slog.LevelInfo, string(e.Code), e.HTTPStatus(), x.refused.LogAttrs()...)
	}
	if status := e.HTTPStatus(); status == http.StatusUnauthorized || e.Code == core.CodeInvalidScope {
		_, presented := r.Header["Authorization"]
		w.Header().Set("WWW-Authenticate", s.challenge(x, e, presented).String())
	}
	if e.Code == core.CodeTemporarilyUnavailable {
		outage := s.tools.outage(x, e)
		outage.Status = e.HTTPStatus()
		writeRPCError(w, outage)
		return
	}
	s.writeProblem(w, x, e)
}

// logRefusal writes the log line of a refusal: its status and outcome, the id of the
// request, the organization, client and tool if known, and the attributes in more. It omits
// the path and the method of the request, because the caller can put any text there.
func (s *Server) logRefusal(r *http.Request, x *exchange, level slog.Level, outcome string, status int, more ...slog.Attr) {
	attrs := []slog.Attr{
		slog.String("request_id", x.requestID),
		slog.String("surface", string(core.Agent)),
		slog.String("outcome", outcome),
		slog.Int("status", status),
	}
	if org := x.principal.Org.ID; org != "" {
		attrs = append(attrs, slog.String("org_id", org), slog.String("client", x.principal.Credential.Name))
	}
	if x.tool != "" {
		attrs = append(attrs, slog.String("operation", x.tool))
	}
	s.cfg.Log.LogAttrs(r.Context(), level, "request refused", append(attrs, more...)...)
}

// challenge returns the WWW-Authenticate header of a refusal. It names the
// protected-resource document, and the scopes to request (RFC 9728 section 5.1, RFC 6750
// section 3): those of the called tool if only a scope is missing, else those of all tools
// (MCP 2025-11-25, Authorization, Scope Selection Strategy).
func (s *Server) challenge(x *exchange, e *core.Error, presented bool) bearer.Challenge {
	needs := s.tools.scopes.Join()
	if t, ok := s.tools.byName[x.tool]; ok && e.Code == core.CodeInvalidScope {
		needs = t.needs
	}
	return s.resource.Challenge(e, needs, presented)
}

// problemSize is the size of most problem documents.
const problemSize = 512

// writeProblem writes the problem document of an error with its status and headers. The
// document's member next_step has the remedy for agents; see hintOf.
func (s *Server) writeProblem(w http.ResponseWriter, x *exchange, err error) {
	p := core.ProblemOf(err, s.cfg.DocsURL, x.requestID)
	p.NextStep = hintOf(core.AsError(err))
	body, marshalErr := p.AppendJSON(make([]byte, 0, problemSize))
	if marshalErr != nil {
		// Only one of the additional members can fail to marshal. Without them the document
		// is still valid.
		p.Extra = nil
		body, _ = p.AppendJSON(nil)
	}
	if p.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(p.RetryAfter))
	}
	write(w, "application/problem+json", p.Status, body)
}

// writeRPCError writes a JSON-RPC error response with its HTTP status.
func writeRPCError(w http.ResponseWriter, e *rpc.Error) {
	if e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(e.RetryAfter))
	}
	write(w, "application/json", e.Status, e.Body())
}

// write writes a complete answer and forbids caching it.
func write(w http.ResponseWriter, contentType string, status int, body []byte) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	//nolint:gosec // no answer is a page: each is JSON with its own type, and nosniff
	_, _ = w.Write(body) // a disconnected client needs no answer
}
