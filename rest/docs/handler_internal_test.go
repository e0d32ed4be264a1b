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

// TestSearchesAreLimited checks that a search beyond the limit waits, that it does nothing
// after its client has disconnected, and that an answered search makes room for the next.
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
		s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/docs/search?q=contact", nil))
	}
	if searches != 2 || len(s.searching) != 0 {
		t.Errorf("%d searches, %d not ended", searches, len(s.searching))
	}
}
