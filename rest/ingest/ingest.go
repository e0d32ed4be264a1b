package ingest

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/rest"
	"github.com/prometheus/client_golang/prometheus"
)

// Path is the URL path under which the handler is mounted, with everything below it.
const Path = "/ingest"

// SESPath is the URL path to which events of Amazon SES and of simulated accounts are sent,
// followed by the ingest path of the connection.
const SESPath = Path + "/ses/"

// Address returns the URL to which an organization's events are sent. base is the URL of
// the public API; ingestPath is the secret path of the organization's connection.
func Address(base, ingestPath string) string { return base + SESPath + ingestPath }

// maxBody is the maximum size of a request body in bytes: the size of the largest event of
// Amazon SNS and EventBridge.
const maxBody = messages.MaxSESEvent

// Connections returns the connection of a sending account by its ingest path. It fails with
// core.CodeNotFound for an unknown path.
type Connections interface {
	ConnectionByIngestPath(ctx context.Context, path string) (sending.Connection, error)
}

// Recorder stores events. Record returns after they are committed.
type Recorder interface {
	Record(ctx context.Context, orgID string, events []messages.Event) (messages.Recorded, error)
}

// MailReceiver takes notifications of received mail; see package core/inbound/ses.
type MailReceiver interface {
	// IsReceived reports whether an SNS message is a notification of received mail.
	IsReceived(message []byte) bool
	// Receive returns nil when the received message is stored. It fails with
	// core.CodeValidationFailed for a notification that can never be accepted.
	Receive(ctx context.Context, orgID string, message []byte) error
}

// Config has the dependencies of the handler. All fields except Simulator, Mail,
// MailRegions, Metrics and Tracing are required.
type Config struct {
	Connections Connections
	Events      Recorder
	// Amazon verifies the notifications for accounts at Amazon SES; see [NewAmazon].
	Amazon Publisher
	// Simulator verifies the notifications for simulated accounts only. If it is nil, they
	// are refused.
	Simulator Publisher
	// Mail takes notifications of received mail. If it is nil, they are refused as events that
	// are not known.
	Mail MailReceiver
	// MailRegions are the regions in which Amazon SES receives mail. In each of them, the topic
	// with the account and the name of a connection's topic may publish notifications of
	// received mail: the topic of a receipt rule must be in the region that receives.
	MailRegions []string
	// DocsURL is the URL of the documentation, to which problem documents link.
	DocsURL string
	Clock   core.Clock
	Log     *slog.Logger
	Metrics prometheus.Registerer
	Tracing *rest.Tracing
}

// New returns the handler.
func New(cfg Config) http.Handler {
	return &ingest{cfg: cfg, metrics: newMetrics(cfg.Metrics)}
}

// ingest is the handler that receives the events of all organizations.
type ingest struct {
	cfg     Config
	metrics *metrics
}

// ServeHTTP answers with 202 without a body, or with a problem document.
func (g *ingest) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	route := ""
	if _, here := pathOf(r); here {
		route = SESPath + "{path}"
	}
	g.cfg.Tracing.TraceRequest(r, route, func(r *http.Request) int { return g.answer(w, r) })
}

// pathOf returns the account's ingest path: the part of the request's URL after [SESPath].
// It returns false if the URL does not begin with [SESPath], or if the rest is not exactly
// one segment.
func pathOf(r *http.Request) (string, bool) {
	path, here := strings.CutPrefix(r.URL.EscapedPath(), SESPath)
	return path, here && path != "" && !strings.Contains(path, "/")
}

// answer writes the response and returns its status.
func (g *ingest) answer(w http.ResponseWriter, r *http.Request) int {
	id := core.RequestID(r.Header["X-Request-Id"])
	w.Header().Set("X-Request-Id", id)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	err := g.takeRecovering(w, r)
	if err == nil {
		w.WriteHeader(http.StatusAccepted)
		return http.StatusAccepted
	}
	if core.IsCallerGone(r.Context(), err) {
		panic(http.ErrAbortHandler)
	}
	e := core.AsError(err)
	g.logRefusal(r, id, e)
	if e.Code == core.CodeInvalidKey {
		w.Header().Set("WWW-Authenticate", `ApiKey realm="Mailhelm events"`)
	}
	rest.WriteProblem(w, core.ProblemOf(e, g.cfg.DocsURL, id))
	return e.HTTPStatus()
}

// takeRecovering calls take and converts a panic to the error internal_error.
func (g *ingest) takeRecovering(w http.ResponseWriter, r *http.Request) error {
	var err error
	func() {
		defer func() {
			if v := recover(); v != nil {
				g.cfg.Log.LogAttrs(r.Context(), slog.LevelError, "panic", slog.String("panic", core.PanicText(v)))
				err = core.Internal(nil)
			}
		}()
		err = g.take(w, r)
	}()
	return err
}

// logRefusal logs an error with its cause, which the answer does not show. It logs neither
// the path, which is partly secret, nor the event, which contains email addresses.
func (g *ingest) logRefusal(r *http.Request, id string, e *core.Error) {
	level := slog.LevelInfo
	if e.HTTPStatus() >= http.StatusInternalServerError {
		level = slog.LevelError
	}
	attrs := []slog.Attr{
		slog.String("request_id", id), slog.String("surface", "ingest"),
		slog.Int("status", e.HTTPStatus()), slog.String("outcome", string(e.Code)),
	}
	if e.Err != nil {
		attrs = append(attrs, slog.String("cause", e.Err.Error()))
	}
	g.cfg.Log.LogAttrs(r.Context(), level, "request refused", attrs...)
}

// take reads a request, checks where its event comes from and stores the event.
func (g *ingest) take(w http.ResponseWriter, r *http.Request) error {
	path, here := pathOf(r)
	if !here {
		return &core.Error{
			Code: core.CodeNotFound, Resource: "path", Message: "This path receives no events.",
			Next: "Send events to the address that the connection of the sending account shows.",
		}
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return &core.Error{Code: core.CodeMethodNotAllowed, Message: "Send events with POST."}
	}
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		g.metrics.count("", "malformed", 1)
		return &core.Error{
			Code: core.CodeValidationFailed, Status: http.StatusUnsupportedMediaType,
			Message: "The body is compressed. Events must not be compressed.", Next: "Send the body without Content-Encoding.",
		}
	}
	// The body is checked before the path is looked up. So an error about the body does not
	// show whether the path exists.
	body, err := g.read(w, r)
	if err != nil {
		return err
	}
	var n notification
	signed := r.Header.Get(snsTypeHeader) != ""
	if signed {
		if n, err = readNotification(body); err != nil {
			return g.malformedError(core.AsError(err))
		}
	}
	connection, err := g.cfg.Connections.ConnectionByIngestPath(r.Context(), path)
	switch {
	case err != nil && core.AsError(err).Code == core.CodeNotFound:
		return g.originError("unknown path")
	case err != nil:
		return g.failure(err)
	case signed:
		return g.takeSNS(r, connection, n)
	case r.Header.Get(keyHeader) != "":
		return g.takeEventBridge(r, connection, body)
	}
	return g.originError("the request has neither a signature nor a key")
}

// read returns the body of a request. It fails if the body is larger than 256 KB. If the
// Content-Length is larger, it fails without reading.
func (g *ingest) read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	tooLarge := &core.Error{
		Code: core.CodeValidationFailed, Status: http.StatusRequestEntityTooLarge, Message: "The body is longer than 256 KB.",
	}
	if r.ContentLength > maxBody {
		w.Header().Set("Connection", "close")
		g.metrics.count("", "too_large", 1)
		return nil, tooLarge
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		g.metrics.count("", "too_large", 1)
		return nil, tooLarge
	}
	if err != nil {
		return nil, g.malformedError(&core.Error{Code: core.CodeValidationFailed, Message: "The body ended before it was complete.", Err: err})
	}
	return body, nil
}

// malformedError returns the error for a request that can never be accepted, with status
// 400. Event sources do not repeat a request after this status.
func (g *ingest) malformedError(e *core.Error) error {
	g.metrics.count("", "malformed", 1)
	e.Status = http.StatusBadRequest
	return e.WithNext("Do not repeat the request: the answer would be the same. Send events in the form in which Amazon SES publishes them.")
}

// record stores an event after its sender has been verified, and counts it in the metrics.
func (g *ingest) record(ctx context.Context, orgID string, event []byte) error {
	events, err := messages.ParseSES(event, g.cfg.Clock())
	if err != nil {
		return g.malformedError(core.AsError(err))
	}
	kind := string(events[0].Type)
	recorded, err := g.cfg.Events.Record(ctx, orgID, events)
	if err != nil {
		g.metrics.count(kind, "failed", len(events))
		return err
	}
	g.metrics.count(kind, "recorded", recorded.New)
	g.metrics.count(kind, "duplicate", recorded.Duplicates)
	return nil
}

// receive passes a notification of received mail on, and counts it in the metrics.
func (g *ingest) receive(ctx context.Context, orgID string, message []byte) error {
	err := g.cfg.Mail.Receive(ctx, orgID, message)
	if refused, ok := errors.AsType[*core.Error](err); ok && refused.Code == core.CodeValidationFailed {
		return g.malformedError(refused)
	}
	if err != nil {
		g.metrics.count(mailKind, "failed", 1)
		return err
	}
	g.metrics.count(mailKind, "recorded", 1)
	return nil
}

// mailKind is the kind of notifications of received mail in the metrics.
const mailKind = "received"

// originError returns the error for a request that does not prove that the provider of the
// connected account sent it. The answer is always the same; the reason (why) is only in the
// log.
func (g *ingest) originError(why string) error {
	g.metrics.count("", "refused", 1)
	return &core.Error{
		Code:    core.CodeInvalidKey,
		Message: "The request does not prove that it comes from the event source of a connected sending account.",
		Next:    "Compare the address, the topic and the key with what the connection of the sending account shows.",
		Err:     errors.New(why),
	}
}

// failure counts an event that could not be stored, and returns err.
func (g *ingest) failure(err error) error {
	g.metrics.count("", "failed", 1)
	return err
}
