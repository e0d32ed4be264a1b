package unsubscribe

import (
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/throttle"
	"github.com/mailhelm/mailhelm/core/unsubscribe"
)

// maxForm is the largest size of a form, in bytes. Fifty topics need less.
const maxForm = 64 << 10

// The names of form fields, and the values of the field action.
const (
	fieldAction   = "action"
	fieldTopic    = "topic"
	fieldShown    = "shown"
	fieldBefore   = "before"
	fieldNone     = "none"
	doUnsubscribe = "unsubscribe"
	doSubscribe   = "subscribe"
	doSave        = "save"
	// oneClickField and oneClick are the field and the value of a one-click request (RFC 8058
	// section 3.2).
	oneClickField = "List-Unsubscribe"
	oneClick      = "One-Click"
)

// choose carries out a submitted form: of a page, or the one-click request of a mailbox
// provider.
func (p *Pages) choose(q request) {
	if wait := p.wait(q); wait > 0 {
		retryAfter(q.w, wait)
		p.refuse(q, http.StatusTooManyRequests, "busy")
		return
	}
	v, err := p.Choices.Open(q.r.Context(), q.token)
	if err != nil {
		p.fail(q, err)
		return
	}
	form, ok := readForm(q.w, q.r)
	switch {
	case !ok:
		p.refuse(q, http.StatusBadRequest, "failed")
	case q.ofPreferences:
		p.choosePreferences(q, v, form)
	case strings.EqualFold(form.Get(oneClickField), oneClick):
		if v, err = p.Choices.Unsubscribe(q.r.Context(), v); err != nil {
			p.fail(q, err)
			return
		}
		p.writeOneClick(q, v)
	default:
		p.chooseButton(q, v, form.Get(fieldAction))
	}
}

// wait counts a POST request. It returns 0, or the time to wait if there were too many
// requests of the client or with the token.
func (p *Pages) wait(q request) time.Duration {
	now := p.Clock()
	return max(p.byAddress.Take(throttle.NetworkOf(p.Remote(q.r)), now), p.byToken.Take(q.token, now))
}

// chooseButton carries out the button of the unsubscribe page and shows the page after it.
func (p *Pages) chooseButton(q request, v unsubscribe.Visit, action string) {
	var err error
	isBack := action == doSubscribe
	switch action {
	case doUnsubscribe:
		v, err = p.Choices.Unsubscribe(q.r.Context(), v)
	case doSubscribe:
		v, err = p.Choices.Resubscribe(q.r.Context(), v)
	default: // neither a button of the page nor a one-click request
		p.write(q, http.StatusUnprocessableEntity, p.unsubscribePage(q, v))
		return
	}
	switch {
	case err != nil:
		p.fail(q, err)
	case isBack && !v.IsOut():
		p.write(q, http.StatusOK, p.subscribedPage(q, v))
	default:
		p.write(q, http.StatusOK, p.unsubscribePage(q, v))
	}
}

// choosePreferences saves the choices of the page of preferences and shows it again.
func (p *Pages) choosePreferences(q request, v unsubscribe.Visit, form url.Values) {
	if form.Get(fieldAction) != doSave {
		p.write(q, http.StatusUnprocessableEntity, p.preferencesPage(v, false))
		return
	}
	v, err := p.Choices.SavePreferences(q.r.Context(), v, unsubscribe.Preferences{
		None: form.Get(fieldNone) != "", Shown: form[fieldShown], In: form[fieldTopic], Before: form[fieldBefore],
	})
	if err != nil {
		p.fail(q, err)
		return
	}
	p.write(q, http.StatusOK, p.preferencesPage(v, true))
}

// readForm reads a form in multipart/form-data or, with any other media type, in the form of
// a query. RFC 8058 allows both. It returns false for a form that is invalid or too large.
func readForm(w http.ResponseWriter, r *http.Request) (url.Values, bool) {
	body := http.MaxBytesReader(w, r.Body, maxForm)
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err == nil && kind == "multipart/form-data" {
		r.Body = body
		if err := r.ParseMultipartForm(maxForm); err != nil {
			return nil, false
		}
		return r.MultipartForm.Value, true
	}
	raw, err := io.ReadAll(body)
	if err != nil {
		return nil, false
	}
	form, err := url.ParseQuery(string(raw))
	return form, err == nil
}
