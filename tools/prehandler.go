package tools

import (
	"errors"
	"log/slog"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// The paths of the host.
const (
	endpointPath = "/mcp"
	healthPath   = "/mcp/_health"
	// Clients look for the document both at the root and with the endpoint's
	// path behind it (RFC 9728 section 3.1).
	metadataPath         = access.ProtectedResourcePath
	endpointMetadataPath = access.ProtectedResourcePath + endpointPath
)

// unknownPath is the resource of the refusal of a path that the host does not have.
const unknownPath = "path"

// ServeHTTP answers every path of the host.
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
		err = s.chargeUnserved(w, r, err)
	}
	if err != nil {
		s.refuse(w, r, x, err)
	}
}

// isUnserved reports whether err says that the host has no such path, or that the
// path does not take the method.
func isUnserved(err error) bool {
	e, ok := errors.AsType[*core.Error](err)
	return ok && (e.Code == core.CodeMethodNotAllowed || e.Code == core.CodeNotFound && e.Resource == unknownPath)
}

// chargeUnserved takes one call from a caller whose token is good, and tells the
// limit, as for every request. It returns err, or rate_limited when no call is
// left. A token that is not good makes no difference, nor does a page of another
// origin get an answer about one.
func (s *Server) chargeUnserved(w http.ResponseWriter, r *http.Request, err error) error {
	authorization := r.Header["Authorization"]
	if authorization == nil || s.origins.check(r.Header) != nil {
		return err
	}
	admission, refused := s.cfg.Catalogue.Admit(r.Context(), authorization, access.Agent)
	admission.Rate.Headers(w.Header().Set)
	if refused != nil && core.AsError(refused).Code == core.CodeRateLimited {
		return refused
	}
	return err
}

// serve answers the request, or returns why it does not: a *core.Error for what
// concerns HTTP, a *rpcError for what concerns the JSON-RPC request in it.
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

// serveEndpoint separates calls from what browsers ask before they send one.
func (s *Server) serveEndpoint(w http.ResponseWriter, r *http.Request, x *exchange) error {
	s.shareWithOrigin(w, r)
	switch {
	case r.Method == http.MethodPost:
		return s.serveCall(w, r, x)
	case !isPreflight(r):
		return methodNotAllowed(w, http.MethodPost)
	}
	if err := s.origins.check(r.Header); err != nil {
		return err
	}
	answerPreflight(w, http.MethodPost)
	return nil
}

// serveCall takes one JSON-RPC message from the wire to the SDK. What needs
// nothing of the body is decided before the body is read.
func (s *Server) serveCall(w http.ResponseWriter, r *http.Request, x *exchange) error {
	if err := s.origins.check(r.Header); err != nil {
		return err
	}
	admission, err := s.cfg.Catalogue.Admit(r.Context(), r.Header["Authorization"], access.Agent)
	admission.Rate.Headers(w.Header().Set)
	if err != nil {
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
	if err := s.understand(x, r.Header, body); err != nil {
		return err
	}
	r = s.spans.start(r, x)
	if x.message.isNotification() {
		// Nothing outlives its request here, so there is nothing to initialize or
		// to cancel: a client that hangs up has cancelled.
		w.WriteHeader(http.StatusAccepted)
		return nil
	}
	return s.deliver(w, r, x)
}

// understand reads the message and decides whether it may reach the SDK.
func (s *Server) understand(x *exchange, h http.Header, body []byte) error {
	if isBatch(body) {
		return bodyRefusal(http.StatusBadRequest, "is a batch of messages; this endpoint takes one message in a request").
			WithNext("Send each message in a request of its own.")
	}
	if err := readMessage(body, &x.message, s.tools.places); err != nil {
		return err
	}
	if err := readRevision(x, h); err != nil {
		return x.about(err)
	}
	if x.message.isNotification() {
		return x.about(checkNotification(&x.message))
	}
	if err := s.tools.checkMethod(x); err != nil {
		return x.about(err)
	}
	return nil
}

// answerPanic ends a request whose panic no tool caused. Those are recovered
// where they happen, see recoverPanic. An answer that has begun as events cannot
// end as a document: the connection ends, or the part would pass for the whole.
func (s *Server) answerPanic(w http.ResponseWriter, r *http.Request, x *exchange) {
	v := recover()
	if v == nil {
		return
	}
	if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(v) // the way of net/http to hang up
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
