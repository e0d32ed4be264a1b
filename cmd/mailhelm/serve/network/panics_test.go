package network

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestAPanicOfAHandlerIsLoggedWithoutItsWords checks that a panic in a handler closes the
// connection. The log must contain the source file of the panic but not its value, which
// may contain personal data.
func TestAPanicOfAHandlerIsLoggedWithoutItsWords(t *testing.T) {
	t.Parallel()
	handler := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hangs-up" {
			panic(http.ErrAbortHandler)
		}
		panic("no page for jane@example.com")
	})
	for path, lines := range map[string]int{"/hangs-up": 0, "/": 1} {
		var written bytes.Buffer
		server := httptest.NewUnstartedServer(nil)
		server.Config = newServer(t.Context(), handler, slog.New(slog.NewJSONHandler(&written, nil)))
		server.Start()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if answer, err := server.Client().Do(r); err == nil {
			body, _ := io.ReadAll(answer.Body)
			_ = answer.Body.Close()
			t.Errorf("%s: %d %s", path, answer.StatusCode, body)
		}
		server.Close()
		logged := written.String()
		if strings.Count(logged, "\n") != lines || lines > 0 && !strings.Contains(logged, "panics_test.go") || strings.Contains(logged, "jane") {
			t.Errorf("%s: logged %s", path, logged)
		}
	}
}
