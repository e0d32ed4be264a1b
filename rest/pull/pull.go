// Package pull is the fetch host. It has the messages of temporary inboxes by their pull
// links, and the content of received mail by signed links.
//
// The path of a request is a secret: who has it may read the mail. So the package logs no
// path, and an answer does not tell an unknown link from one that was revoked. It refuses
// requests with a credential, because a credential must not be sent to an address from a link.
package pull

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/apart"
	"github.com/mailhelm/mailhelm/core/inboxes"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/throttle"
	"github.com/mailhelm/mailhelm/rest"
)

// The limits on requests. Those of a client address are high, because all clients behind a
// gateway share one. Those of a link are enough for a client that polls without waiting.
const (
	addressBurst = 600
	addressEvery = 20 * time.Millisecond
	linkBurst    = 60
	linkEvery    = time.Second
)

// Inboxes reads inboxes by the secrets of pull links. It is *inboxes.Inboxes in the product,
// which has the contracts of the methods.
type Inboxes interface {
	PullSummary(ctx context.Context, secret string) (inboxes.Summary, error)
	PullMessages(ctx context.Context, secret string, q inboxes.Query) (inboxes.Arrived, error)
}

// Objects serves the content of received mail by signed links.
type Objects interface {
	// ServeLink answers a request for a link. It fails, and has then written nothing, with
	// core.CodeNotFound for a token that is not valid, and with objects.ErrUnavailable if the
	// content cannot be read now.
	ServeLink(w http.ResponseWriter, r *http.Request, token string) error
}

// Config has the dependencies of the fetch host, the web host that this package serves. All
// fields are required.
type Config struct {
	Inboxes Inboxes
	Objects Objects
	// ObjectPath is the path before the token of a link to an object.
	ObjectPath string
	// Remote returns the client address of a request as host:port, such as
	// http.Request.RemoteAddr.
	Remote func(r *http.Request) string
	// DocsURL is the URL of the documentation, to which problem documents link.
	DocsURL string
	Clock   core.Clock
	Log     *slog.Logger
}

// New returns the handler of the fetch host.
func New(cfg Config) http.Handler {
	h := &host{cfg: cfg, byAddress: throttle.New(addressBurst, addressEvery), byLink: throttle.New(linkBurst, linkEvery)}
	return http.HandlerFunc(h.serve)
}

// host serves the fetch host.
type host struct {
	cfg               Config
	byAddress, byLink *throttle.Throttle
}

// The paths of the fetch host.
const (
	healthPath     = "/_health"
	inboxPath      = "/p/"
	messagesSuffix = "/messages"
)

// Paths returns the templates of all paths. objectPath is [Config.ObjectPath].
func Paths(objectPath string) []string {
	return []string{healthPath, inboxPath + "{secret}", inboxPath + "{secret}" + messagesSuffix, objectPath + "{token}"}
}

// serve answers a request, or refuses it with an error and logs the refusal.
func (h *host) serve(w http.ResponseWriter, r *http.Request) {
	id := core.RequestID(r.Header["X-Request-Id"])
	header := w.Header()
	header.Set("X-Request-Id", id)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
	header.Set("Referrer-Policy", "no-referrer")
	err := h.route(w, r)
	if err == nil {
		return
	}
	if core.IsCallerGone(r.Context(), err) {
		panic(http.ErrAbortHandler)
	}
	h.refuse(w, r, id, core.AsError(err))
}

// refuse logs an error and answers with a problem document. Its member error has the form in
// which this host always answered refused credentials.
func (h *host) refuse(w http.ResponseWriter, r *http.Request, id string, e *core.Error) {
	level := slog.LevelInfo
	// A path on this host is a secret, so the log does not contain it.
	attrs := []slog.Attr{
		slog.String("request_id", id), slog.String("surface", "fetch"), slog.Int("status", e.HTTPStatus()), slog.String("outcome", string(e.Code)),
	}
	if e.IsFault() {
		level = slog.LevelError
		attrs = append(attrs, slog.String("cause", e.Error()))
	}
	h.cfg.Log.LogAttrs(r.Context(), level, "request refused", attrs...)
	p := core.ProblemOf(e, h.cfg.DocsURL, id)
	p.Extra = map[string]any{"error": map[string]string{"code": string(p.Code), "message": p.Detail, "detail": p.NextStep}}
	rest.WriteProblem(w, p)
}

// route answers a request by its path.
func (h *host) route(w http.ResponseWriter, r *http.Request) error {
	path := r.URL.EscapedPath()
	secret, ofInbox := strings.CutPrefix(path, inboxPath)
	token, ofObject := strings.CutPrefix(path, h.cfg.ObjectPath)
	if ofInbox || ofObject {
		allowOrigins(w.Header())
	}
	if _, credential := r.Header["Authorization"]; credential {
		return errCredential()
	}
	if path == healthPath {
		return h.health(w, r)
	}
	if wait := h.byAddress.Take(throttle.NetworkOf(h.cfg.Remote(r)), h.cfg.Clock()); wait > 0 {
		return errTooMany(wait)
	}
	if !ofInbox && !ofObject {
		return errNoLink()
	}
	switch r.Method {
	case http.MethodOptions:
		return preflight(w)
	case http.MethodGet, http.MethodHead:
	default:
		w.Header().Set("Allow", allowedMethods)
		return &core.Error{Code: core.CodeMethodNotAllowed, Message: "Links to inboxes and to content of mail take GET, HEAD and OPTIONS."}
	}
	if ofObject {
		return h.object(w, r, token)
	}
	secret, ofMessages := strings.CutSuffix(secret, messagesSuffix)
	return h.inbox(w, r, secret, ofMessages)
}

// inbox answers with the inbox of a link or with its messages.
func (h *host) inbox(w http.ResponseWriter, r *http.Request, secret string, ofMessages bool) error {
	if wait := h.byLink.Take(secret, h.cfg.Clock()); wait > 0 {
		return errTooMany(wait)
	}
	answer, err := h.read(r, secret, ofMessages)
	if core.IsNotFound(err) {
		err = errNoLink()
	}
	if err != nil {
		return err
	}
	body, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // an error means that the client has disconnected
	return nil
}

// read returns the inbox of a link, or its messages.
func (h *host) read(r *http.Request, secret string, messages bool) (any, error) {
	if !messages {
		return h.cfg.Inboxes.PullSummary(r.Context(), secret)
	}
	var q inboxes.Query
	var err error
	apart.Run(func() { q, err = queryOf(r.URL.Query()) })
	if err != nil {
		return nil, err
	}
	return h.cfg.Inboxes.PullMessages(r.Context(), secret, q)
}

// object answers with the content of an object.
func (h *host) object(w http.ResponseWriter, r *http.Request, token string) error {
	err := h.cfg.Objects.ServeLink(w, r, token)
	switch {
	case core.IsNotFound(err):
		return errNoLink()
	case errors.Is(err, objects.ErrUnavailable):
		return core.TemporarilyUnavailable(err)
	}
	return err
}

// health writes the answer of the health check.
func (h *host) health(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		return &core.Error{Code: core.CodeMethodNotAllowed, Message: "The health check takes GET and HEAD."}
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"status":"ok"}`)) // an error means that the client has disconnected
	return nil
}

// allowedMethods are the methods of links.
const allowedMethods = "GET, HEAD, OPTIONS"

// allowOrigins lets pages of any web origin read the answer, without credentials (Fetch
// standard, section 3.3). A page that knows a link could also have a server read it, so this
// gives away nothing. A client in a browser needs it for large bodies and attachments too.
func allowOrigins(header http.Header) {
	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("Access-Control-Expose-Headers", "Content-Disposition, Content-Range, Retry-After, X-Request-Id")
}

// preflight answers the request by which a browser asks for permission.
func preflight(w http.ResponseWriter) error {
	header := w.Header()
	header.Set("Allow", allowedMethods)
	header.Set("Access-Control-Allow-Methods", allowedMethods)
	header.Set("Access-Control-Allow-Headers", "Accept, Content-Type")
	header.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return nil
}
