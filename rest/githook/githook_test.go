package githook_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/rest/githook"
)

func TestAnswers(t *testing.T) {
	t.Parallel()
	outcome, failure, got := githook.Accepted, error(nil), githook.Delivery{}
	h := githook.New(githook.Config{MaxBody: 10, Log: slog.New(slog.DiscardHandler), Receive: func(_ context.Context, d githook.Delivery) (githook.Outcome, error) {
		got = d
		return outcome, failure
	}})
	send := func(method, body string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(method, githook.Path, strings.NewReader(body))
		r.Header.Set("X-GitHub-Event", "push")
		r.Header.Set("X-GitHub-Delivery", "id")
		r.Header.Set("X-Hub-Signature-256", "sha256=00")
		h.ServeHTTP(w, r)
		return w
	}
	for o, want := range map[githook.Outcome]int{
		githook.Accepted: http.StatusAccepted, githook.Repeated: http.StatusOK, githook.Unsigned: http.StatusUnauthorized, githook.Malformed: http.StatusBadRequest,
	} {
		outcome = o
		if w := send(http.MethodPost, "{}"); w.Code != want || w.Body.Len() != 0 || got.Event != "push" || got.ID != "id" || got.Signature != "sha256=00" || string(got.Body) != "{}" {
			t.Errorf("outcome %d: %d %q, %+v", o, w.Code, w.Body, got)
		}
	}
	failure = errors.New("no database")
	if w := send(http.MethodPost, "{}"); w.Code != http.StatusServiceUnavailable || w.Body.Len() != 0 {
		t.Errorf("failure: %d %q", w.Code, w.Body)
	}
	got = githook.Delivery{}
	if w := send(http.MethodPost, "12345678901"); w.Code != http.StatusRequestEntityTooLarge || got.ID != "" {
		t.Errorf("large: %d %+v", w.Code, got)
	}
	if w := send(http.MethodGet, ""); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "POST" || got.ID != "" {
		t.Errorf("GET: %d %+v", w.Code, got)
	}
}

// TestBodiesAreBounded opens more requests than may be read at once. The last one is refused until one
// of the others ends.
func TestBodiesAreBounded(t *testing.T) {
	t.Parallel()
	entered, leave := make(chan struct{}), make(chan struct{})
	h := githook.New(githook.Config{MaxBody: 10, Log: slog.New(slog.DiscardHandler), Receive: func(context.Context, githook.Delivery) (githook.Outcome, error) {
		entered <- struct{}{}
		<-leave
		return githook.Accepted, nil
	}})
	post := func() int {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, githook.Path, strings.NewReader("{}")))
		return w.Code
	}
	codes := make(chan int)
	for range 8 {
		go func() { codes <- post() }()
		<-entered
	}
	if code := post(); code != http.StatusServiceUnavailable {
		t.Errorf("the ninth: %d", code)
	}
	close(leave)
	for range 8 {
		if code := <-codes; code != http.StatusAccepted {
			t.Error(code)
		}
	}
}
