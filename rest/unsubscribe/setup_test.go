package unsubscribe_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/unsubscribe"
	pages "github.com/mailhelm/mailhelm/rest/unsubscribe"
)

// start is the time of the tests.
var start = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// site is the pages with one contact, whose link has the token "good". It is also the
// Choices of the pages.
type site struct {
	http.Handler

	visit   unsubscribe.Visit
	failure error
	now     time.Time
	calls   []string // the changes that were requested
	saved   unsubscribe.Preferences
	log     strings.Builder
}

// newSite returns a site with a contact that receives the topic news of the link.
func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{now: start, visit: unsubscribe.Visit{
		Token:   unsubscribe.Token{OrgID: "org", Recipient: unsubscribe.Recipient{ContactID: "contact", Topic: "news"}},
		OrgName: "Northwind Tea", Language: "en", Email: "a***@x.example", IsKnown: true,
		Topics: []unsubscribe.Topic{{Name: "news", Title: "Tea news", Description: "New teas, once a month.", IsIn: true}, {Name: "offers", Title: "Offers"}},
	}}
	p, err := pages.New(pages.Config{
		Choices: s, Remote: func(r *http.Request) string { return r.RemoteAddr }, Clock: func() time.Time { return s.now },
		Log: slog.New(slog.NewTextHandler(&s.log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Handler = p.Handler()
	return s
}

func (s *site) Open(_ context.Context, token string) (unsubscribe.Visit, error) {
	if token != "good" {
		return unsubscribe.Visit{}, core.NotFound("link")
	}
	return s.visit, s.failure
}

func (s *site) Unsubscribe(_ context.Context, v unsubscribe.Visit) (unsubscribe.Visit, error) {
	return s.change("unsubscribe", v, false)
}

func (s *site) Resubscribe(_ context.Context, v unsubscribe.Visit) (unsubscribe.Visit, error) {
	return s.change("subscribe", v, true)
}

func (s *site) SavePreferences(_ context.Context, v unsubscribe.Visit, p unsubscribe.Preferences) (unsubscribe.Visit, error) {
	s.saved = p
	return s.change("save", v, false)
}

// change records the change, and sets the topics of the visit.
func (s *site) change(name string, v unsubscribe.Visit, in bool) (unsubscribe.Visit, error) {
	s.calls = append(s.calls, name)
	v.Topics = append([]unsubscribe.Topic{}, v.Topics...)
	v.Topics[0].IsIn = in
	s.visit = v
	return v, s.failure
}

// takeCalls returns the names of the changes since the last call, separated by spaces.
func (s *site) takeCalls() string {
	calls := strings.Join(s.calls, " ")
	s.calls = nil
	return calls
}

// form is the media type of forms.
const form = "application/x-www-form-urlencoded"

// reply is the status and the headers of an answer.
type reply struct {
	StatusCode int
	Header     http.Header
}

// send sends a request and returns the answer with its body.
func (s *site) send(t *testing.T, method, path, kind, body string) (reply, string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	return s.answer(t, r)
}

func (s *site) answer(t *testing.T, r *http.Request) (reply, string) {
	t.Helper()
	recorder := httptest.NewRecorder()
	s.ServeHTTP(recorder, r)
	return reply{recorder.Code, recorder.Header()}, recorder.Body.String()
}

// expect fails if the answer has another status, or lacks one of the texts.
func expect(t *testing.T, name string, answer reply, body string, status int, texts ...string) {
	t.Helper()
	if answer.StatusCode != status {
		t.Errorf("%s: status %d, want %d", name, answer.StatusCode, status)
	}
	for _, text := range texts {
		if !strings.Contains(body, text) {
			t.Errorf("%s: %q is missing in\n%s", name, text, body)
		}
	}
}
