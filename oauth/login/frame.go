package login

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"
	"math"
	"net/http"
	"strconv"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
)

// Frame writes pages with the common layout and headers, error pages, and the log lines of
// errors. It does not read the session.
type Frame struct {
	docsURL string
	log     *slog.Logger
	origins *http.CrossOriginProtection
	refusal *template.Template // the page for errors
}

func newFrame(docsURL string, log *slog.Logger, refusal *template.Template) *Frame {
	f := &Frame{docsURL: docsURL, log: log, origins: http.NewCrossOriginProtection(), refusal: refusal}
	f.origins.SetDenyHandler(http.HandlerFunc(f.crossOrigin))
	return f
}

// ParsePage is the function [ParsePage] as a method, for packages that receive only a
// [Site].
func (*Frame) ParsePage(files fs.FS, names ...string) (*template.Template, error) {
	return ParsePage(files, names...)
}

// frameData is the data of the template with the common layout.
type frameData struct {
	Title, Style, Icon, DocsURL string
	Data                        any
}

// Show writes a page with the status. If the page cannot be rendered, it answers with 500.
func (f *Frame) Show(w http.ResponseWriter, r *http.Request, status int, page *template.Template, title string, data any) {
	var b bytes.Buffer
	if err := page.Execute(&b, frameData{Title: title, Style: StylePath, Icon: IconPath, DocsURL: f.docsURL, Data: data}); err != nil {
		f.logFailure(r, fmt.Errorf("make page: %w", err))
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(b.Len()))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(b.Bytes()) // an error means that the client has disconnected
	}
}

// refusal is the data of the error page.
type refusal struct{ Heading, Text, RequestID string }

// Refuse writes an error page with a heading and a text that says what to do next.
func (f *Frame) Refuse(w http.ResponseWriter, r *http.Request, status int, heading, text string) {
	f.Show(w, r, status, f.refusal, heading, refusal{Heading: heading, Text: text, RequestID: requestID(r)})
}

// Fail writes an error page for err. For a *core.Error it shows the error's own text. Any
// other error is shown as an internal error, and its cause is only in the log.
func (f *Frame) Fail(w http.ResponseWriter, r *http.Request, err error) {
	e := core.AsError(err)
	retryLater(w, e)
	if e.IsFault() {
		f.logFailure(r, err)
		f.Refuse(w, r, e.HTTPStatus(), "Something failed on our side", "Try again in a moment.")
		return
	}
	f.Refuse(w, r, e.HTTPStatus(), e.Message, e.NextStep())
}

// crossOrigin answers a form that was sent from another site with 403.
func (f *Frame) crossOrigin(w http.ResponseWriter, r *http.Request) {
	f.Refuse(w, r, http.StatusForbidden, "This form was sent from another site",
		"Nothing was done. Open the page on this site and try again.")
}

// checkToken checks the token of a submitted form. The token is derived from the session
// and the text in the parameter question. If checkToken returns false, it has written the
// response.
func (f *Frame) checkToken(w http.ResponseWriter, r *http.Request, v people.Visitor, question string) bool {
	if v.FormTokenMatches(r.PostForm.Get(fieldToken), question) {
		return true
	}
	f.Refuse(w, r, http.StatusForbidden, "This page was outdated", "Nothing was done. Open the page again and repeat your change.")
	return false
}

// logFailure logs the cause of an internal error with the request's id.
func (f *Frame) logFailure(r *http.Request, err error) {
	f.log.LogAttrs(r.Context(), slog.LevelWarn, "page failed",
		slog.String("request_id", requestID(r)), slog.String("path", r.URL.Path), slog.String("cause", err.Error()))
}

// logRefusal logs the error code of a refused proof or change. The proof or change is
// named by the parameter `of`. The log line omits the error text, which may contain what
// the person typed.
func (f *Frame) logRefusal(r *http.Request, of string, e *core.Error) {
	f.log.LogAttrs(r.Context(), slog.LevelInfo, "proof refused",
		slog.String("request_id", requestID(r)), slog.String("of", of), slog.String("outcome", string(e.Code)))
}

// retryLater sets the header Retry-After if the error says when to retry.
func retryLater(w http.ResponseWriter, e *core.Error) {
	if e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(e.RetryAfter.Seconds()))))
	}
}
