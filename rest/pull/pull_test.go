package pull_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/rest/pull"
)

func TestHost(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		method, path, authorization string
		status                      int
		code                        core.Code
	}{
		"health":                 {http.MethodGet, "/_health", "", 200, ""},
		"health by HEAD":         {http.MethodHead, "/_health", "", 200, ""},
		"health by POST":         {http.MethodPost, "/_health", "", 405, core.CodeMethodNotAllowed},
		"unknown link":           {http.MethodGet, "/p/secret-link", "", 404, core.CodeNotFound},
		"root":                   {http.MethodGet, "/", "", 404, core.CodeNotFound},
		"credential":             {http.MethodGet, "/p/secret-link", "Bearer sk_live_x", 400, core.CodeWrongHost},
		"credential at health":   {http.MethodGet, "/_health", "Basic eDp5", 400, core.CodeWrongHost},
		"empty credential":       {http.MethodGet, "/_health", " ", 400, core.CodeWrongHost},
		"credential, other verb": {http.MethodDelete, "/", "Bearer x", 400, core.CodeWrongHost},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log strings.Builder
			handler := pull.New(pull.Config{DocsURL: "https://app.test/docs", Objects: openObjects(t), Log: slog.New(slog.NewJSONHandler(&log, nil))})
			r := httptest.NewRequest(tc.method, tc.path, nil)
			if tc.authorization != "" {
				r.Header.Set("Authorization", tc.authorization)
			}
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			if w.Code != tc.status {
				t.Fatalf("status = %d, want %d: %s", w.Code, tc.status, w.Body)
			}
			if strings.Contains(log.String(), "secret-link") || strings.Contains(log.String(), "sk_live_x") {
				t.Errorf("the log holds the link or the credential: %s", log.String())
			}
			if tc.code == "" {
				return
			}
			var p core.Problem
			if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
				t.Fatal(err)
			}
			if p.Code != tc.code || p.Type != "https://app.test/docs/api/errors/"+string(tc.code) || p.RequestID != w.Header().Get("X-Request-Id") {
				t.Errorf("problem = %+v", p)
			}
			if !strings.Contains(log.String(), string(tc.code)) {
				t.Errorf("log = %q, want one line with the code", log.String())
			}
		})
	}
}
