package login

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
)

//go:embed pages/*.html
var templates embed.FS

//go:embed pages/style.css
var stylesheet []byte

type pages struct {
	signIn, account, refusal, proof, security, app, codes *template.Template
	password, forgotten, newPassword                      *template.Template
}

func parsePages() (pages, error) {
	var p pages
	for file, into := range map[string]**template.Template{
		"sign_in.html": &p.signIn, "account.html": &p.account, "refusal.html": &p.refusal,
		"proof.html": &p.proof, "security.html": &p.security, "app.html": &p.app, "codes.html": &p.codes,
		"password.html": &p.password, "forgotten.html": &p.forgotten, "new_password.html": &p.newPassword,
	} {
		parsed, err := ParsePage(templates, "pages/"+file, "pages/choose_password.html")
		if err != nil {
			return pages{}, err
		}
		*into = parsed
	}
	return p, nil
}

// ParsePage returns a page in the frame, parsed from files. One of the files must
// define the template "content".
func ParsePage(files fs.FS, names ...string) (*template.Template, error) {
	frame, err := template.ParseFS(templates, "pages/frame.html")
	if err != nil {
		return nil, fmt.Errorf("page frame: %w", err)
	}
	page, err := frame.ParseFS(files, names...)
	if err != nil {
		return nil, fmt.Errorf("page %v: %w", names, err)
	}
	return page, nil
}

// ParsePage is the function ParsePage as a method, for packages that have only the
// site.
func (*Site) ParsePage(files fs.FS, names ...string) (*template.Template, error) {
	return ParsePage(files, names...)
}

// frame is the data of the frame's template.
type frame struct {
	Title, Style, DocsURL string
	Data                  any
}

// Show writes a page with the status. A page that cannot be rendered is answered with
// 500.
func (s *Site) Show(w http.ResponseWriter, r *http.Request, status int, page *template.Template, title string, data any) {
	var b bytes.Buffer
	if err := page.Execute(&b, frame{Title: title, Style: StylePath, DocsURL: s.docsURL, Data: data}); err != nil {
		s.logFailure(r, fmt.Errorf("make page: %w", err))
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(b.Len()))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(b.Bytes()) // a client that has disconnected is not an error
	}
}

// refusal is the data of the page for errors.
type refusal struct{ Heading, Text, RequestID string }

// Refuse writes a page with the error and the next step.
func (s *Site) Refuse(w http.ResponseWriter, r *http.Request, status int, heading, text string) {
	s.Show(w, r, status, s.pages.refusal, heading, refusal{Heading: heading, Text: text, RequestID: requestID(r)})
}

// Fail writes a page for err. An error of the API has its own text. Any other error is
// shown as an internal error, and its cause is only in the log.
func (s *Site) Fail(w http.ResponseWriter, r *http.Request, err error) {
	e := core.AsError(err)
	retryLater(w, e)
	if e.IsFault() {
		s.logFailure(r, err)
		s.Refuse(w, r, e.HTTPStatus(), "Something failed on our side", "Try again in a moment.")
		return
	}
	s.Refuse(w, r, e.HTTPStatus(), e.Message, e.NextStep())
}

func (s *Site) logFailure(r *http.Request, err error) {
	s.log.LogAttrs(r.Context(), slog.LevelWarn, "page failed",
		slog.String("request_id", requestID(r)), slog.String("path", r.URL.Path), slog.String("cause", err.Error()))
}

// IsSignedOut reports whether an error means that no person is signed in.
func IsSignedOut(err error) bool {
	e, ok := errors.AsType[*core.Error](err)
	return ok && e.Code == core.CodeInvalidKey
}

// serveFile returns a handler for a static file without personal data.
func serveFile(kind string, content []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { writeFile(w, r, kind, content) })
}

func writeFile(w http.ResponseWriter, r *http.Request, kind string, content []byte) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	h.Set("Content-Type", kind+"; charset=utf-8")
	h.Set("Cache-Control", "public, max-age=300")
	h.Set("Content-Length", strconv.Itoa(len(content)))
	_, _ = w.Write(content) // a failure means that the client has disconnected
}

// account is the data of the page of a signed-in person.
type account struct {
	Visitor       people.Visitor
	Organizations []core.Org
}
