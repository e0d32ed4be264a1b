package docs

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestAFailingTemplate checks that a page whose template fails is answered with status 500,
// and that only the log has the reason.
func TestAFailingTemplate(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	c := &content{pages: map[string]rendering{
		"/scopes": func() (page, error) { return page{}, errors.New("no field Wrong") },
	}}
	s := &Site{prefix: "/docs", log: slog.New(slog.NewTextHandler(&log, nil)), content: func() (*content, error) { return c, nil }}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/docs/scopes", nil))
	if w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "Wrong") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if !strings.Contains(log.String(), "no field Wrong") || !strings.Contains(log.String(), "path=/scopes") {
		t.Errorf("the log has %s", log.String())
	}
}

// readsSlowly is a client that may take long to read an answer. It fails the test if a search
// counts as running while its answer is written.
type readsSlowly struct {
	*httptest.ResponseRecorder
	t *testing.T
	s *Site
}

func (r readsSlowly) Write(b []byte) (int, error) {
	if n := len(r.s.searching); n != 0 {
		r.t.Errorf("%d searches run while an answer is written", n)
	}
	return r.ResponseRecorder.Write(b)
}

// TestSearchesAreLimited checks that a search beyond the limit waits, that it does nothing
// after its client has disconnected, and that a search makes room for the next before its
// answer is written.
func TestSearchesAreLimited(t *testing.T) {
	t.Parallel()
	searches := 0
	s := &Site{prefix: "/docs", log: slog.New(slog.DiscardHandler), searching: make(chan struct{}, 1), content: func() (*content, error) {
		searches++
		return nil, errors.New("no content")
	}}
	gone, leave := context.WithCancel(t.Context())
	leave()
	s.searching <- struct{}{}
	s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(gone, http.MethodGet, "/docs/search?q=contact", nil))
	if searches != 0 {
		t.Error("a search beyond the limit was answered")
	}
	<-s.searching
	for range 2 {
		s.ServeHTTP(readsSlowly{httptest.NewRecorder(), t, s}, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/docs/search?q=contact", nil))
	}
	if searches != 2 || len(s.searching) != 0 {
		t.Errorf("%d searches, %d not ended", searches, len(s.searching))
	}
}
