package frametest

import (
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// Site is a frame.Site for tests. It treats Visitor as signed in, asks for no second
// factor, and writes the content of pages without the surrounding HTML.
type Site struct {
	Visitor people.Visitor
	Uploads int // the number of calls of AllowUpload
	// Unidentified says that the visitor did not prove the identity lately.
	Unidentified bool
	// Wrote is the time of the last call of RememberWrite, and says that the visitor wrote lately.
	Wrote time.Duration
}

// RememberWrite stores its argument in Wrote.
func (s *Site) RememberWrite(_ http.ResponseWriter, lasts time.Duration) { s.Wrote = lasts }

// WroteLately reports whether Wrote is set.
func (s *Site) WroteLately(*http.Request) bool { return s.Wrote > 0 }

// ParsePage parses template files. One of them must define "content".
func (*Site) ParsePage(files fs.FS, names ...string) (*template.Template, error) {
	page, err := template.New("site").Parse(`{{template "content" .}}`)
	if err != nil {
		return nil, err
	}
	return page.ParseFS(files, names...)
}

// Protect returns a handler that parses the form and calls the handler of the request's
// method. It sets no headers.
func (*Site) Protect(methods map[string]http.HandlerFunc) http.Handler {
	return protect(methods, (*http.Request).ParseForm)
}

// ProtectUpload returns a handler that limits the body and calls the handler of the
// request's method.
func (*Site) ProtectUpload(methods map[string]http.HandlerFunc, maxBody int64) http.Handler {
	return protect(methods, func(r *http.Request) error {
		r.Body = http.MaxBytesReader(nil, r.Body, maxBody)
		return nil
	})
}

// AllowUpload counts its calls. A test's request has no deadline.
func (s *Site) AllowUpload(http.ResponseWriter, *http.Request) { s.Uploads++ }

// protect returns a handler that calls read and then the handler of the request's method.
func protect(methods map[string]http.HandlerFunc, read func(*http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handle, ok := methods[r.Method]
		if !ok {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		if err := read(r); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		handle(w, r)
	})
}

// Admit returns Visitor and true.
func (s *Site) Admit(http.ResponseWriter, *http.Request) (people.Visitor, bool) {
	return s.Visitor, true
}

// Confirm returns true without a check: the visitor may continue without a second factor.
func (*Site) Confirm(http.ResponseWriter, *http.Request, people.Visitor, string) bool { return true }

// Identify returns true without a check, unless Unidentified is set. It then redirects to the
// path "/login/confirm".
func (s *Site) Identify(w http.ResponseWriter, _ *http.Request, _ people.Visitor, _ string) bool {
	if s.Unidentified {
		frame.SeeOther(w, "/login/confirm")
	}
	return !s.Unidentified
}

// Show writes the title and the content of a page.
func (s *Site) Show(w http.ResponseWriter, r *http.Request, status int, page *template.Template, title string, data any) {
	w.WriteHeader(status)
	fmt.Fprintf(w, "<title>%s</title>\n", template.HTMLEscapeString(title))
	if err := page.Execute(w, data); err != nil {
		fmt.Fprintf(w, "\npage failed: %v\n", err)
	}
}

// Refuse writes the heading and the text of a refusal.
func (*Site) Refuse(w http.ResponseWriter, _ *http.Request, status int, heading, text string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, "%s: %s\n", heading, text)
}

// Fail writes the message of the error with the status of its code.
func (s *Site) Fail(w http.ResponseWriter, r *http.Request, err error) {
	e := core.AsError(err)
	s.Refuse(w, r, e.HTTPStatus(), e.Message, err.Error())
}
