// Package pull is the fetch host, on which the mail of a temporary inbox can be read by a
// link. It also serves the links to objects of received mail, such as attachments; only this
// host does, because their content comes from strangers. It refuses requests with a credential, because a credential must not be sent to an
// address from a link.
//
// The package contains only the HTTP answers of the fetch host. Temporary inboxes and their
// links will belong to package core. They do not exist yet, so every path except the health
// check is not found.
package pull

import (
	"log/slog"
	"net/http"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/rest"
)

// Config has the dependencies of the fetch host, the web host that this package serves. All
// fields are required.
type Config struct {
	// DocsURL is the URL of the documentation, to which problem documents link.
	DocsURL string
	// Objects serves the links to objects of received mail.
	Objects Objects
	Log     *slog.Logger
}

// Objects serves objects of received mail by links.
type Objects interface {
	// ServeLink answers a GET or HEAD request for the link with a token. It fails with
	// not_found if the link does not work, for whatever reason, and has then written nothing.
	ServeLink(w http.ResponseWriter, r *http.Request, token string) error
}

// New returns the handler of the fetch host, the host of links to temporary inboxes. It
// refuses every request except the health check and links to objects.
func New(cfg Config) http.Handler {
	h := &host{cfg: cfg}
	return http.HandlerFunc(h.serve)
}

// host serves the fetch host.
type host struct{ cfg Config }

// healthPath is the URL path of the health check.
const healthPath = "/_health"

// objectPath is the beginning of the paths of links to objects.
const objectPath = "/o/"

// serve answers the health check and links to objects. It refuses every other request with
// an error and logs the refusal.
func (h *host) serve(w http.ResponseWriter, r *http.Request) {
	id := core.RequestID(r.Header["X-Request-Id"])
	w.Header().Set("X-Request-Id", id)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	err := h.answer(w, r)
	if err == nil {
		return
	}
	// A path on this host is a secret link, so the log does not contain it.
	h.cfg.Log.LogAttrs(r.Context(), slog.LevelInfo, "request refused",
		slog.String("request_id", id), slog.String("surface", "fetch"),
		slog.Int("status", err.HTTPStatus()), slog.String("outcome", string(err.Code)))
	rest.WriteProblem(w, core.ProblemOf(err, h.cfg.DocsURL, id))
}

// answer answers a request, or returns the error for it.
func (h *host) answer(w http.ResponseWriter, r *http.Request) *core.Error {
	if err := refuseCredential(r); err != nil {
		return err
	}
	if token, ok := strings.CutPrefix(r.URL.EscapedPath(), objectPath); ok {
		return h.object(w, r, token)
	}
	if r.URL.EscapedPath() != healthPath {
		return unknownLink()
	}
	if err := refuseMethod(w, r); err != nil {
		return err
	}
	h.health(w)
	return nil
}

// object answers a request for a link to an object.
func (h *host) object(w http.ResponseWriter, r *http.Request, token string) *core.Error {
	if err := refuseMethod(w, r); err != nil {
		return err
	}
	err := h.cfg.Objects.ServeLink(w, r, token)
	if err == nil {
		return nil
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	if core.IsNotFound(err) {
		return unknownLink()
	}
	return core.TemporarilyUnavailable(err)
}

// unknownLink returns the error for a link that does not work. It does not say why.
func unknownLink() *core.Error {
	return &core.Error{
		Code: core.CodeNotFound, Resource: "inbox link",
		Message: "This link is not known, or its inbox no longer exists.",
		Next:    "Request a new link from where you got this one.",
	}
}

// refuseCredential returns the error for a request with a credential, nil for another.
func refuseCredential(r *http.Request) *core.Error {
	if _, credential := r.Header["Authorization"]; credential {
		return &core.Error{
			Code:    core.CodeWrongHost,
			Message: "The fetch host accepts no credentials.",
			Next:    "Leave the Authorization header out. Replace the credential if others may have seen it. Send API keys to the public API, and access tokens to the host that they were issued for.",
		}
	}
	return nil
}

// refuseMethod returns the error for a request that is neither GET nor HEAD.
func refuseMethod(w http.ResponseWriter, r *http.Request) *core.Error {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		return &core.Error{Code: core.CodeMethodNotAllowed, Message: "This address takes GET and HEAD."}
	}
	return nil
}

// health writes the answer of the health check, which must not be cached.
func (h *host) health(w http.ResponseWriter) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"status":"ok"}`)) // an error means that the client has disconnected
}
