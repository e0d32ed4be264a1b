package unsubscribe

import (
	"bytes"
	"fmt"
	"html/template"
	"io"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/unsubscribe"
)

// page is the data of the template.
type page struct {
	Language, Title, OrgName string
	Notice                   string // that a form was saved; "" for none
	Heading                  string
	Paragraphs               []string
	Choices                  *choices
	Button                   *button
	Preferences              *link
	Style                    template.CSS
}

// choices is the form of the page of preferences.
type choices struct {
	Legend, NoneLabel, NoneText, Save string
	Topics                            []unsubscribe.Topic
	None                              bool
}

// button is a form with only a button.
type button struct {
	Action, Label string
	IsPrimary     bool
}

type link struct{ Path, Label string }

// textsOf returns the texts for a visit in the language of its organization.
func (p *Pages) textsOf(v unsubscribe.Visit) texts { return p.texts.of(v.Language, v) }

// newPage returns a page for a visit, with the texts that the keys name.
func newPage(t texts, v unsubscribe.Visit, heading string, paragraphs ...string) page {
	made := page{Language: t.language, Title: t.say("title"), OrgName: v.OrgName, Heading: t.say(heading)}
	for _, key := range paragraphs {
		made.Paragraphs = append(made.Paragraphs, t.say(key))
	}
	return made
}

// keyOf returns the key of a text: for links with a topic if ofTopic is true, else for those
// without.
func keyOf(of string, ofTopic bool) string {
	if ofTopic {
		return of + "_topic_text"
	}
	return of + "_all_text"
}

// noContact returns the page for a link without a contact. It returns false if the visit has
// a contact.
func noContact(t texts, v unsubscribe.Visit) (page, bool) {
	switch {
	case v.IsGone:
		return newPage(t, v, "gone", "gone_text"), true
	case v.IsTest():
		return newPage(t, v, "test", "test_text"), true
	case !v.IsKnown:
		return newPage(t, v, "unknown", "unknown_text"), true
	}
	return page{}, false
}

// unsubscribePage returns the page that asks whether to unsubscribe, or the one that says
// that the recipient is unsubscribed.
func (p *Pages) unsubscribePage(q request, v unsubscribe.Visit) page {
	t := p.textsOf(v)
	if made, ok := noContact(t, v); ok {
		return made
	}
	_, ofTopic := v.Topic()
	var made page
	if v.IsOut() {
		made = newPage(t, v, "out", keyOf("out", ofTopic && !v.IsOutOfAll), "out_note")
		if !ofTopic || !v.IsOutOfAll { // a link with a topic does not undo the global opt-out
			made.Button = &button{Action: doSubscribe, Label: t.say("again")}
		}
	} else {
		heading := "ask_all"
		if ofTopic {
			heading = "ask_topic"
		}
		made = newPage(t, v, heading, keyOf("ask", ofTopic))
		made.Button = &button{Action: doUnsubscribe, Label: t.say("unsubscribe"), IsPrimary: true}
	}
	made.Preferences = preferencesLink(q, t)
	return made
}

// subscribedPage returns the page that says that the recipient is subscribed again.
func (p *Pages) subscribedPage(q request, v unsubscribe.Visit) page {
	t := p.textsOf(v)
	_, ofTopic := v.Topic()
	made := newPage(t, v, "in", keyOf("in", ofTopic))
	made.Button = &button{Action: doUnsubscribe, Label: t.say("unsubscribe")}
	made.Preferences = preferencesLink(q, t)
	return made
}

func preferencesLink(q request, t texts) *link {
	return &link{Path: unsubscribe.Path + q.token + unsubscribe.PreferencesSuffix, Label: t.say("choose")}
}

// preferencesPage returns the page with all choices. saved is true after they were saved.
func (p *Pages) preferencesPage(v unsubscribe.Visit, saved bool) page {
	t := p.textsOf(v)
	if made, ok := noContact(t, v); ok {
		return made
	}
	made := newPage(t, v, "preferences", "preferences_text")
	made.Title = made.Heading
	if saved {
		made.Notice = t.say("saved")
	}
	made.Choices = &choices{
		Legend: t.say("topics"), Topics: v.Topics, None: v.IsOutOfAll,
		NoneLabel: t.say("none"), NoneText: t.say("none_text"), Save: t.say("save"),
	}
	return made
}

// write writes a page.
func (p *Pages) write(q request, status int, made page) {
	made.Style = p.style
	var b bytes.Buffer
	if err := p.page.Execute(&b, made); err != nil {
		p.logFailure(q, fmt.Errorf("make page: %w", err))
		q.w.WriteHeader(http.StatusInternalServerError)
		return
	}
	writeBody(q, status, "text/html", b.Bytes())
}

// writeOneClick answers a one-click request. Mailbox providers read only the status; the
// text is for people who try the request.
func (p *Pages) writeOneClick(q request, v unsubscribe.Visit) {
	made := p.unsubscribePage(q, v)
	var b bytes.Buffer
	_, _ = io.WriteString(&b, made.Heading+"\n") // a buffer takes everything
	for _, paragraph := range made.Paragraphs {
		_, _ = io.WriteString(&b, paragraph+"\n")
	}
	writeBody(q, http.StatusOK, "text/plain", b.Bytes())
}

func writeBody(q request, status int, kind string, body []byte) {
	h := q.w.Header()
	h.Set("Content-Type", kind+"; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	q.w.WriteHeader(status)
	if q.r.Method != http.MethodHead {
		_, _ = q.w.Write(body) // an error means that the client has disconnected
	}
}

// fail writes the page for an error: "not found" for a bad link, without a reason, and
// otherwise that something went wrong.
func (p *Pages) fail(q request, err error) {
	if core.IsNotFound(err) {
		p.refuse(q, http.StatusNotFound, "invalid")
		return
	}
	p.logFailure(q, err)
	e := core.AsError(err)
	retryAfter(q.w, e.RetryAfter)
	p.refuse(q, e.HTTPStatus(), "failed")
}

// refuse writes a page without a visit, in a language that the browser prefers. key names
// the heading, and with the suffix _text the text.
func (p *Pages) refuse(q request, status int, key string) {
	q.w.Header().Set("Vary", "Accept-Language")
	t := p.texts.of(p.texts.preferred(q.r.Header.Get("Accept-Language")), unsubscribe.Visit{})
	made := newPage(t, unsubscribe.Visit{}, key, key+"_text")
	made.Title = made.Heading
	p.write(q, status, made)
}

// logFailure logs the cause of a failure. The path of the request is a credential, so the
// log does not have it.
func (p *Pages) logFailure(q request, err error) {
	p.Log.LogAttrs(q.r.Context(), slog.LevelWarn, "unsubscribe page failed",
		slog.String("request_id", q.w.Header().Get(requestIDHeader)), slog.String("cause", err.Error()))
}

// retryAfter sets the header Retry-After, in whole seconds. It sets nothing for 0.
func retryAfter(w http.ResponseWriter, wait time.Duration) {
	if wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	}
}
