// Package pull is the fetch host: the address at which the holder of a link reads the mail
// of a temporary inbox. It accepts no credential, so that no credential is pasted where
// links are, and refuses requests that have one.
//
// It owns the answers of this host. Inboxes and their links belong to core. They do not
// exist yet, so every path except the health check is not found.
package pull

import (
	"log/slog"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/rest"
)

// Config is what the fetch host needs. All members are required.
type Config struct {
	// DocsURL is the root of the served documentation.
	DocsURL string
	Log     *slog.Logger
}

// New returns the handler of the fetch host.
func New(cfg Config) http.Handler {
	h := &host{cfg: cfg}
	return http.HandlerFunc(h.serve)
}

// host serves the fetch host.
type host struct{ cfg Config }

// healthPath is the path of the health check.
const healthPath = "/_health"

// serve answers a request and logs a refusal without its path.
func (h *host) serve(w http.ResponseWriter, r *http.Request) {
	id := core.RequestID(r.Header["X-Request-Id"])
	w.Header().Set("X-Request-Id", id)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	err := refusal(w, r)
	if err == nil {
		h.health(w)
		return
	}
	// Paths of this host are credentials, so the log has none of them.
	h.cfg.Log.LogAttrs(r.Context(), slog.LevelInfo, "request refused",
		slog.String("request_id", id), slog.String("surface", "fetch"),
		slog.Int("status", err.HTTPStatus()), slog.String("outcome", string(err.Code)))
	rest.WriteProblem(w, core.ProblemOf(err, h.cfg.DocsURL, id))
}

// refusal returns the refusal of a request, nil for the health check.
func refusal(w http.ResponseWriter, r *http.Request) *core.Error {
	if _, credential := r.Header["Authorization"]; credential {
		return &core.Error{
			Code:    core.CodeWrongHost,
			Message: "The fetch host takes no credential.",
			Next:    "Leave the Authorization header out, and treat the credential that was sent as seen by more places than it should be. API keys and access tokens belong to the public API.",
		}
	}
	if r.URL.EscapedPath() != healthPath {
		return &core.Error{
			Code: core.CodeNotFound, Resource: "inbox link",
			Message: "There is nothing at this address: the link is not one of this service, or its inbox is gone.",
			Next:    "Ask for a new link where this one came from.",
		}
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		return &core.Error{Code: core.CodeMethodNotAllowed, Message: "The health check takes GET and HEAD."}
	}
	return nil
}

// health writes the health document, which must not be cached.
func (h *host) health(w http.ResponseWriter) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"status":"ok"}`)) // a client that has gone away is no failure of ours
}
