package tools

import (
	"errors"
	"log/slog"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/bearer"
	"github.com/mailhelm/mailhelm/tools/rpc"
)

// The URL paths that the host of the agent endpoint serves.
const (
	endpointPath = "/mcp"
	healthPath   = "/mcp/_health"
	// The protected-resource document is served at the root and with the endpoint's path
	// appended, because clients use both paths (RFC 9728 section 3.1).
	metadataPath         = bearer.ProtectedResourcePath
	endpointMetadataPath = bearer.ProtectedResourcePath + endpointPath
)

// unknownPath is the resource name in the error for a path that the host does not have.
const unknownPath = "path"

// ServeHTTP answers every request to the agent endpoint's host. It sets the request id and
// turns errors and panics into answers.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{requestID: core.RequestID(r.Header[requestIDHeader])}
	h := w.Header()
	h[requestIDHeader] = []string{x.requestID}
	h["X-Content-Type-Options"] = []string{"nosniff"}
	if s.cfg.Tracer != nil {
		x.arrived = s.cfg.Clock()
		defer s.spans.end(x)
	}
	defer s.answerPanic(w, r, x)
	err := s.serve(w, r, x)
	if isUnserved(err) {
		err = s.chargeUnserved(w, r, x, err)
	}
	if err != nil {
		s.refuse(w, r, x, err)
	}
}

// isUnserved reports whether err means that the host does not have the requested path, or
// that the path does not allow the method.
func isUnserved(err error) bool {
	e, ok := errors.AsType[*core.Error](err)
	return ok && (e.Code == core.CodeMethodNotAllowed || e.Code == core.CodeNotFound && e.Resource == unknownPath)
}

// chargeUnserved counts a request for an unknown path or method against the rate limit of
// its token, and sets the rate limit headers. It returns rate_limited if the limit is
// exceeded, otherwise err. For an invalid token or a page of a forbidden origin, it only
// returns err.
func (s *Server) chargeUnserved(w http.ResponseWriter, r *http.Request, x *exchange, err error) error {
	authorization := r.Header["Authorization"]
	if authorization == nil || s.origins.check(r.Header) != nil {
		return err
	}
	admission, refused := s.cfg.Catalogue.Admit(r.Context(), authorization, access.Agent)
	admission.Rate.Headers(w.Header())
	if refused != nil && core.AsError(refused).Code == core.CodeRateLimited {
		x.refused = admission
		return refused
	}
	return err
}

// serve answers a request by its path. If it returns an error, it has written nothing. A
// *core.Error must be answered with a problem document, an *rpc.Error with a JSON-RPC error.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, x *exchange) error {
	switch r.URL.Path {
	case endpointPath:
		return s.serveEndpoint(w, r, x)
	case healthPath:
		return s.serveHealth(w, r)
	case metadataPath, endpointMetadataPath:
		return s.serveMetadata(w, r)
	default:
		return &core.Error{
			Code: core.CodeNotFound, Resource: unknownPath,
			Message: "The agent endpoint has no such path.",
			Next:    "Send JSON-RPC requests with POST to `" + endpointPath + "`.",
		}
	}
}

// serveEndpoint answers a request to the path /mcp: a JSON-RPC request with POST, or a CORS
// preflight. It refuses other methods.
func (s *Server) serveEndpoint(w http.ResponseWriter, r *http.Request, x *exchange) error {
	s.shareWithOrigin(w, r)
	switch {
	case r.Method == http.MethodPost:
		return s.serveCall(w, r, x)
	case !isPreflight(r):
		return refuseMethod(w, http.MethodPost)
	}
	if err := s.origins.check(r.Header); err != nil {
		return err
	}
	answerPreflight(w, http.MethodPost)
	return nil
}

// serveCall checks a POST request and answers its JSON-RPC message. It makes the
// checks of origin, token and media types before it reads the body.
func (s *Server) serveCall(w http.ResponseWriter, r *http.Request, x *exchange) error {
	if err := s.origins.check(r.Header); err != nil {
		return err
	}
	admission, err := s.cfg.Catalogue.Admit(r.Context(), r.Header["Authorization"], access.Agent)
	admission.Rate.Headers(w.Header())
	if err != nil {
		x.refused = admission
		return err
	}
	x.principal = admission.Principal
	if err := checkMedia(r.Header); err != nil {
		return err
	}
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	if err := s.decodeMessage(x, r.Header, body); err != nil {
		return err
	}
	r = s.spans.start(r, x)
	if x.message.IsNotification() {
		// Notifications need no handling: requests leave no state on the server, and a client
		// cancels a call by closing the connection.
		w.WriteHeader(http.StatusAccepted)
		return nil
	}
	return s.answer(w, r, x)
}

// decodeMessage decodes the body into x.message and checks it. It fails for a batch, an
// invalid message, a wrong protocol revision, a method that is not served, and a call of a
// tool that the caller may not make.
func (s *Server) decodeMessage(x *exchange, h http.Header, body []byte) error {
	if rpc.IsBatch(body) {
		return bodyRefusal(http.StatusBadRequest, "is a batch of messages; this endpoint takes one message in a request").
			WithNext("Send each message in a request of its own.")
	}
	if err := x.message.Read(body, h, s.tools.places); err != nil {
		return err
	}
	if x.message.Method == rpc.MethodCallTool {
		return s.tools.checkCall(x)
	}
	return nil
}

// answerPanic recovers a panic outside of a tool, logs it and answers with internal_error.
// Panics of tools are recovered in recoverPanic. If the answer began as an event stream, it
// closes the connection: the client must not take a partial answer as complete.
func (s *Server) answerPanic(w http.ResponseWriter, r *http.Request, x *exchange) {
	v := recover()
	if v == nil {
		return
	}
	if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(v) // net/http closes the connection after this panic
	}
	s.cfg.Log.LogAttrs(r.Context(), slog.LevelError, "panic",
		slog.String("request_id", x.requestID), slog.String("surface", string(core.Agent)),
		slog.String("panic", core.PanicText(v)))
	s.noteRefusal(x, core.Internal(nil))
	if x.stream.begun {
		panic(http.ErrAbortHandler)
	}
	s.writeProblem(w, x, core.Internal(nil))
}
