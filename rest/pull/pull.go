// Package pull is the fetch host, on which the mail of a temporary inbox can be read by a
// link. It refuses requests with a credential, because a credential must not be sent to an
// address from a link.
//
// The package contains only the HTTP answers of the fetch host. Temporary inboxes and their
// links will belong to package core. They do not exist yet, so every path except the health
// check is not found.
package pull

import (
	"log/slog"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/rest"
)

// Config has the dependencies of the fetch host, the web host that this package serves. All
// fields are required.
type Config struct {
	// DocsURL is the URL of the documentation, to which problem documents link.
	DocsURL string
	Log     *slog.Logger
}

// New returns the handler of the fetch host, the host of links to temporary inboxes. It
// refuses every request except the health check.
func New(cfg Config) http.Handler {
	h := &host{cfg: cfg}
	return http.HandlerFunc(h.serve)
}

// host serves the fetch host.
type host struct{ cfg Config }

// healthPath is the URL path of the health check.
const healthPath = "/_health"

// serve answers the health check. It refuses every other request with an error and logs the
// refusal.
func (h *host) serve(w http.ResponseWriter, r *http.Request) {
	id := core.RequestID(r.Header["X-Request-Id"])
	w.Header().Set("X-Request-Id", id)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	err := refusal(w, r)
	if err == nil {
		h.health(w)
		return
	}
	// A path on this host is a secret link, so the log does not contain it.
	h.cfg.Log.LogAttrs(r.Context(), slog.LevelInfo, "request refused",
		slog.String("request_id", id), slog.String("surface", "fetch"),
		slog.Int("status", err.HTTPStatus()), slog.String("outcome", string(err.Code)))
	rest.WriteProblem(w, core.ProblemOf(err, h.cfg.DocsURL, id))
}

// refusal returns the error for a request, or nil for the health check.
func refusal(w http.ResponseWriter, r *http.Request) *core.Error {
	if _, credential := r.Header["Authorization"]; credential {
		return &core.Error{
			Code:    core.CodeWrongHost,
			Message: "The fetch host accepts no credentials.",
			Next:    "Leave the Authorization header out. Replace the credential if others may have seen it. Send API keys to the public API, and access tokens to the host that they were issued for.",
		}
	}
	if r.URL.EscapedPath() != healthPath {
		return &core.Error{
			Code: core.CodeNotFound, Resource: "inbox link",
			Message: "This link is not known, or its inbox no longer exists.",
			Next:    "Request a new link from where you got this one.",
		}
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		return &core.Error{Code: core.CodeMethodNotAllowed, Message: "The health check takes GET and HEAD."}
	}
	return nil
}

// health writes the answer of the health check, which must not be cached.
func (h *host) health(w http.ResponseWriter) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"status":"ok"}`)) // an error means that the client has disconnected
}
