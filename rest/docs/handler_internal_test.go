package docs

import (
	"bytes"
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
