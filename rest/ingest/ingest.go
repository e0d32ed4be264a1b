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

// Path is where this handler is to be mounted, with everything below it.
const Path = "/ingest"

// SESPath and the connection's own part after it are where events of an account at
// Amazon SES are posted, and those of a simulated one.
const SESPath = Path + "/ses/"

// Address is where an organization's events are sent to. base is the address of the
// public API, ingestPath that of the organization's connection.
func Address(base, ingestPath string) string { return base + SESPath + ingestPath }

// maxBody is the most that Amazon SNS and EventBridge send, in bytes.
const maxBody = messages.MaxSESEvent

// Connections finds whose events come in at a path. It fails with
// core.CodeNotFound when they are nobody's.
type Connections interface {
	ConnectionByIngestPath(ctx context.Context, path string) (sending.Connection, error)
}

// Recorder stores events and returns when they are committed.
type Recorder interface {
	Record(ctx context.Context, orgID string, events []messages.Event) (messages.Recorded, error)
}

// Config is what the handler needs. All members but Simulator, Metrics and Tracing
// are required.
type Config struct {
	Connections Connections
	Events      Recorder
	// Amazon is who signs the notifications of accounts at Amazon; see [NewAmazon].
	Amazon Publisher
	// Simulator is who signs those of simulated accounts, and of no others. With nil
	// theirs are refused.
	Simulator Publisher
	// DocsURL is the root of the served documentation.
	DocsURL string
	Clock   core.Clock
	Log     *slog.Logger
	Metrics prometheus.Registerer
	Tracing *rest.Tracing
}

// New is the handler.
func New(cfg Config) http.Handler {
	return &ingest{cfg: cfg, metrics: newMetrics(cfg.Metrics)}
}

type ingest struct {
	cfg     Config
	metrics *metrics
}

// ServeHTTP answers 202 without a body, or with a problem document.
func (g *ingest) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	route := ""
	if _, here := pathOf(r); here {
		route = SESPath + "{path}"
	}
	g.cfg.Tracing.Around(r, route, func(r *http.Request) int { return g.answer(w, r) })
}

// pathOf is the connection's part of the address.
func pathOf(r *http.Request) (string, bool) {
	path, here := strings.CutPrefix(r.URL.EscapedPath(), SESPath)
	return path, here && path != "" && !strings.Contains(path, "/")
}

// answer returns the status.
func (g *ingest) answer(w http.ResponseWriter, r *http.Request) int {
	id := core.RequestID(r.Header["X-Request-Id"])
	w.Header().Set("X-Request-Id", id)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	err := g.guarded(w, r)
	if err == nil {
		w.WriteHeader(http.StatusAccepted)
		return http.StatusAccepted
	}
	if core.CallerGone(r.Context(), err) {
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

// guarded turns a panic into internal_error.
func (g *ingest) guarded(w http.ResponseWriter, r *http.Request) error {
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

// logRefusal says why, which the answer does not. Neither path nor event are in
// it: the one is half a secret, the other holds addresses.
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

func (g *ingest) take(w http.ResponseWriter, r *http.Request) error {
	path, here := pathOf(r)
	if !here {
		return &core.Error{
			Code: core.CodeNotFound, Resource: "path", Message: "Nothing is taken in at this path.",
			Next: "Send events to the address that the connection of the sending account shows.",
		}
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return &core.Error{Code: core.CodeMethodNotAllowed, Message: "Events are taken with POST."}
	}
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		g.metrics.count("", "malformed", 1)
		return &core.Error{
			Code: core.CodeValidationFailed, Status: http.StatusUnsupportedMediaType,
			Message: "The body is compressed, and events are taken as they are.", Next: "Send the body without Content-Encoding.",
		}
	}
	// What is wrong with the request by itself is found out before anybody looks
	// whose path it is, so that such an answer does not tell whether it is
	// somebody's.
	body, err := g.read(w, r)
	if err != nil {
		return err
	}
	var n notification
	signed := r.Header.Get(snsTypeHeader) != ""
	if signed {
		if n, err = readNotification(body); err != nil {
			return g.malformed(core.AsError(err))
		}
	}
	connection, err := g.cfg.Connections.ConnectionByIngestPath(r.Context(), path)
	switch {
	case err != nil && core.AsError(err).Code == core.CodeNotFound:
		return g.refused("nobody's path")
	case err != nil:
		return g.failed(err)
	case signed:
		return g.takeSNS(r, connection, n)
	case r.Header.Get(keyHeader) != "":
		return g.takeEventBridge(r, connection, body)
	}
	return g.refused("neither signed nor with a key")
}

// read is the body. One that announces too much is refused without reading it.
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
		return nil, g.malformed(&core.Error{Code: core.CodeValidationFailed, Message: "The body ended before it was complete.", Err: err})
	}
	return body, nil
}

// malformed is the answer to what can never be taken, with the status that event
// sources read as the end of it.
func (g *ingest) malformed(e *core.Error) error {
	g.metrics.count("", "malformed", 1)
	e.Status = http.StatusBadRequest
	return e.WithNext("Do not send it again as it is: it would be answered alike. Events are taken as Amazon SES publishes them.")
}

// record takes an event whose origin is proven.
func (g *ingest) record(ctx context.Context, orgID string, event []byte) error {
	events, err := messages.ParseSES(event, g.cfg.Clock())
	if err != nil {
		return g.malformed(core.AsError(err))
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

// refused is the one answer to whatever does not prove where it comes from. Why is
// for the log.
func (g *ingest) refused(why string) error {
	g.metrics.count("", "refused", 1)
	return &core.Error{
		Code:    core.CodeInvalidKey,
		Message: "The request does not prove that it comes from the event source of a connected sending account.",
		Next:    "Compare the address, the topic and the key with what the connection of the sending account shows.",
		Err:     errors.New(why),
	}
}

func (g *ingest) failed(err error) error {
	g.metrics.count("", "failed", 1)
	return err
}
