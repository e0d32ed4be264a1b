package login

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// maxForm is the maximum size of a form, in bytes.
const maxForm = 64 << 10

const requestIDHeader = "X-Request-Id"

// Methods maps the HTTP methods of a path to their handlers. HEAD needs an entry of its
// own.
type Methods = map[string]http.HandlerFunc

// Protect returns the handler of a page. The handler sets a request id, and headers against
// framing, scripts, caching and referrers. It refuses forms from other sites, and every
// HTTP method that the map methods does not contain.
func (f *Frame) Protect(methods Methods) http.Handler {
	return f.protect(methods, f.readForm)
}

// ProtectUpload returns the handler of a page whose form sends a file. It is [Frame.Protect]
// with another limit: a POST may have a body of maxBody bytes, in multipart/form-data, which
// the handler reads. The handler calls [Frame.AllowUpload] before it reads the file.
func (f *Frame) ProtectUpload(methods Methods, maxBody int64) http.Handler {
	return f.protect(methods, func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPost {
			return f.readForm(w, r)
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		return true
	})
}

// AllowUpload gives the client uploadTime to send the rest of the body. Until it is called,
// the server's own limits apply, which suit small forms: a client that is not signed in
// could otherwise hold a connection for uploadTime.
func (f *Frame) AllowUpload(w http.ResponseWriter, r *http.Request) {
	until := time.Now().Add(uploadTime) //nolint:forbidigo // a deadline of the connection
	control := http.NewResponseController(w)
	if err := errors.Join(control.SetReadDeadline(until), control.SetWriteDeadline(until.Add(time.Minute))); err != nil {
		f.log.WarnContext(r.Context(), "time for an upload not set", "error", err)
	}
}

// uploadTime is the time that a client has to send a file.
const uploadTime = 10 * time.Minute

// readForm limits and parses the form of a request. If it returns false, it has written a
// refusal.
func (f *Frame) readForm(w http.ResponseWriter, r *http.Request) bool {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		f.Refuse(w, r, http.StatusBadRequest, "The form could not be read", "Go back and send it again.")
		return false
	}
	return true
}

// protect returns the handler of a page. read limits the body and parses it if the handlers
// expect that; if it returns false, it has written a refusal.
func (f *Frame) protect(methods Methods, read func(http.ResponseWriter, *http.Request) bool) http.Handler {
	allow := make([]string, 0, len(methods))
	for method := range methods {
		allow = append(allow, method)
	}
	slices.Sort(allow)
	dispatch := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handle, ok := methods[r.Method]
		if !ok {
			w.Header().Set("Allow", strings.Join(allow, ", "))
			f.Refuse(w, r, http.StatusMethodNotAllowed, "This method is not allowed",
				"Open the page by its link and try again.")
			return
		}
		if read(w, r) {
			handle(w, r)
		}
	})
	return headers(f.origins.Handler(dispatch))
}

func headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		SetPolicy(w, "")
		h.Set("X-Frame-Options", "DENY") // for browsers without support for frame-ancestors
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		id := core.RequestID(r.Header[requestIDHeader])
		h.Set(requestIDHeader, id)
		r.Header[requestIDHeader] = []string{id}
		next.ServeHTTP(w, r)
	})
}

// requestID returns the id that Protect has assigned to the request.
func requestID(r *http.Request) string { return r.Header.Get(requestIDHeader) }

// SetPolicy sets the page's content security policy. formTarget is another origin to which
// the response to a form may redirect, or "" for none. The policy must name this origin,
// because browsers apply form-action to such redirects.
func SetPolicy(w http.ResponseWriter, formTarget string) {
	target := "'self'"
	if formTarget != "" {
		target += " " + formTarget
	}
	w.Header().Set("Content-Security-Policy",
		"default-src 'none'; style-src 'self'; img-src 'self'; form-action "+target+"; base-uri 'none'; frame-ancestors 'none'")
}

// allowScript extends the page's content security policy: scripts of this host may run and
// send requests to this host.
func allowScript(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Security-Policy", h.Get("Content-Security-Policy")+"; script-src 'self'; connect-src 'self'")
}

// LeadTo returns a handler that redirects to the given path of this host.
func (f *Frame) LeadTo(path string) http.Handler {
	lead := func(w http.ResponseWriter, _ *http.Request) { seeOther(w, path) }
	return f.Protect(Methods{http.MethodGet: lead, http.MethodHead: lead})
}

// seeOther redirects with 303. The browser then sends a GET request without the form (RFC
// 9110 section 15.4.4).
func seeOther(w http.ResponseWriter, location string) {
	w.Header().Set("Location", location)
	w.WriteHeader(http.StatusSeeOther)
}
