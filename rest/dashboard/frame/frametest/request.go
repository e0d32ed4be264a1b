package frametest

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// Get requests a page of the handler and returns the status and the body of the answer.
func Get(t *testing.T, pages http.Handler, address string) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	pages.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, address, nil))
	return w.Code, w.Body.String()
}

// Post sends a form with a valid form token of the visitor, and returns the status and the
// body of the answer.
func Post(t *testing.T, pages http.Handler, v people.Visitor, path string, form url.Values) (int, string) {
	t.Helper()
	sent := url.Values{"token": {frame.FormTo(v, path).Token}}
	for name, values := range form {
		sent[name] = values
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(sent.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	pages.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}
