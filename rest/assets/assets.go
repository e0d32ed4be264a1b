// Package assets is the asset host: the public address of the images that mail shows.
//
// The path of an image is the hash of its content with the ending of its file name, so the content at
// an address never changes, and caches keep it for ever. The host lists nothing, knows no credential,
// and has an origin of its own, because images come from customers: an SVG image can contain scripts.
// Each answer is sandboxed, so that a browser that opens an address runs nothing.
package assets

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/assets"
	"github.com/mailhelm/mailhelm/core/assets/header"
)

// HealthPath is the path that answers 200 without reading anything.
const HealthPath = "/_health"

// Paths returns the templates of all paths.
func Paths() []string { return []string{HealthPath, "/{image}"} }

// imagePath matches the path of an image. The query is ignored.
var imagePath = regexp.MustCompile(`^/([0-9a-f]{64})(\.[a-z]{3,4})$`)

// policy forbids scripts, forms, frames, and all loading. Style sheets and style attributes within an
// SVG image are allowed.
const policy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"

// Images finds and opens contents by their hashes. It is *assets.Public in the product, which has the
// contracts of the methods.
type Images interface {
	Find(ctx context.Context, hash string) ([]assets.Owned, error)
	Open(ctx context.Context, copies []assets.Owned) (io.ReadCloser, error)
}

// Config has the dependencies of the asset host. All fields are required.
type Config struct {
	Images Images
	Log    *slog.Logger
}

// New returns the handler of the asset host.
func New(cfg Config) http.Handler { return host{cfg} }

type host struct{ cfg Config }

// ServeHTTP answers a request for an image.
func (h host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Content-Security-Policy", policy)
	head.Set("Referrer-Policy", "no-referrer")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		head.Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed)
		return
	}
	if r.URL.Path == HealthPath {
		head.Set("Cache-Control", "no-store")
		return
	}
	match := imagePath.FindStringSubmatch(r.URL.EscapedPath())
	if match == nil {
		refuse(w, http.StatusNotFound)
		return
	}
	copies, err := h.cfg.Images.Find(r.Context(), match[1])
	if err == nil && !assets.HasEnding(copies[0].Type, match[2]) {
		err = core.NotFound("image")
	}
	if err != nil {
		h.fail(w, r, err)
		return
	}
	h.serve(w, r, copies)
}

// serve answers with a content, or says that the client has it.
func (h host) serve(w http.ResponseWriter, r *http.Request, copies []assets.Owned) {
	content, tag := copies[0].Content, `"`+copies[0].Hash+`"`
	var body io.ReadCloser
	known := hasTag(r.Header["If-None-Match"], tag)
	if r.Method == http.MethodGet && !known {
		var err error
		if body, err = h.cfg.Images.Open(r.Context(), copies); err != nil {
			h.fail(w, r, err)
			return
		}
		defer body.Close()
	}
	head := w.Header()
	head.Set("ETag", tag)
	head.Set("Cache-Control", "public, max-age=31536000, immutable")
	head.Set("Cross-Origin-Resource-Policy", "cross-origin")
	if known {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	head.Set("Content-Type", content.Type)
	head.Set("Content-Length", strconv.Itoa(content.SizeBytes))
	// The img element ignores this header. A browser that opens the address of an SVG image
	// downloads it, so that no page made by a customer is shown at this origin.
	head.Set("Content-Disposition", "inline")
	if content.Type == header.SVG {
		head.Set("Content-Disposition", `attachment; filename="image.svg"`)
	}
	if body == nil {
		return
	}
	if _, err := io.Copy(w, body); err != nil {
		if r.Context().Err() == nil {
			h.cfg.Log.ErrorContext(r.Context(), "an image was not sent", "surface", "assets", "cause", err)
		}
		panic(http.ErrAbortHandler) // the answer is too short, so that no cache keeps it
	}
}

// hasTag reports whether a header If-None-Match has an entity tag, by weak comparison (RFC 9110
// section 13.1.2).
func hasTag(values []string, tag string) bool {
	for _, value := range values {
		for one := range strings.SplitSeq(value, ",") {
			if one = strings.TrimSpace(one); one == "*" || strings.TrimPrefix(one, "W/") == tag {
				return true
			}
		}
	}
	return false
}

// fail answers with the status of an error, and logs faults of the server.
func (h host) fail(w http.ResponseWriter, r *http.Request, err error) {
	if core.IsNotFound(err) {
		refuse(w, http.StatusNotFound)
		return
	}
	if core.IsCallerGone(r.Context(), err) {
		panic(http.ErrAbortHandler)
	}
	h.cfg.Log.ErrorContext(r.Context(), "an image was not read", "surface", "assets", "cause", err)
	status := http.StatusInternalServerError
	if e, ok := errors.AsType[*core.Error](err); ok && e.Code == core.CodeTemporarilyUnavailable {
		w.Header().Set("Retry-After", strconv.Itoa(int(e.RetryAfter.Seconds())))
		status = http.StatusServiceUnavailable
	}
	refuse(w, status)
}

// refuse answers with the text of a status.
func refuse(w http.ResponseWriter, status int) {
	w.Header().Set("Cache-Control", "no-store")
	http.Error(w, http.StatusText(status), status)
}
