package frame

import (
	_ "embed" // for the stylesheet and the script
	"net/http"
	"strconv"
	"strings"
)

// Style is the stylesheet of the dashboard. It uses the colours and form controls of the
// sign-in pages, which serve both together.
//
//go:embed assets/dashboard.css
var Style string

// script adds conveniences to pages that work without it: buttons that copy, filters that
// apply while a visitor types, keys, and values of charts on hover.
//
//go:embed assets/dashboard.js
var script []byte

// scriptPath is the path of the script.
const scriptPath = Path + "/assets/dashboard.js"

// serveScript writes the script, which is the same for every visitor.
func serveScript(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	h.Set("Content-Type", "text/javascript; charset=utf-8")
	h.Set("Cache-Control", "public, max-age=300")
	h.Set("Content-Length", strconv.Itoa(len(script)))
	_, _ = w.Write(script) // an error means that the client has disconnected
}

// allowScript extends the content security policy of a page that allows no script yet: the dashboard's script may run
// and send requests to this host.
func allowScript(w http.ResponseWriter) {
	h := w.Header()
	if policy := h.Get("Content-Security-Policy"); !strings.Contains(policy, "script-src") {
		h.Set("Content-Security-Policy", policy+"; script-src 'self'; connect-src 'self'")
	}
}
