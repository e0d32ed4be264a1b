package pull_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// FuzzRequest sends requests with any method, path and query. Every answer must have the headers
// of this host, be JSON unless it is the object, and not repeat a link; nothing but the link
// itself may open the inbox or the object, and the log must have no part of the path.
func FuzzRequest(f *testing.F) {
	for _, seed := range [][3]string{
		{"GET", "/p/good/messages", "after=0&wait=25"},
		{"GET", "/p/good", ""},
		{"HEAD", "/o/object", ""},
		{"OPTIONS", "/p/x/messages", ""},
		{"GET", "/p//messages/messages", "wait=-1"},
		{"GET", "/p/good%2fmessages", ""},
		{"GET", "/p/%67ood", ""},
		{"GET", "//p/good", ""},
		{"GET", "/p/../o/object", ""},
		{"POST", "/o/object", "a=%zz"},
		{"GET", "/p/expired", "after=99999999999999999999"},
		{"PRI", "*", ""},
		{"GET", "/P/good", ""},
		{"GET", "/p/good/", ""},
		{"GET", "/o/object/..", "match_subject=%ff&match_subject=%00"},
		{"GET", "/_health/", ""},
		{"GET", "/p/good;x", "wait=1;after=2"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, method, path, query string) {
		if method == "" || strings.ContainsFunc(method, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return // the HTTP server refuses it
		}
		h := newHost()
		r := &http.Request{
			Method: method, URL: &url.URL{Path: path, RawQuery: query}, Header: http.Header{}, RemoteAddr: "192.0.2.1:1", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		}
		if parsed, err := url.ParseRequestURI(path); err == nil && parsed.Host == "" {
			r.URL.Path, r.URL.RawPath = parsed.Path, parsed.RawPath
		}
		r = r.WithContext(t.Context())
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"} {
			if w.Header().Get(name) != want {
				t.Errorf("%s: %q", name, w.Header().Get(name))
			}
		}
		escaped := r.URL.EscapedPath()
		opens := escaped == "/p/good" || escaped == "/p/good/messages" || escaped == "/o/object" || escaped == "/_health"
		switch {
		case w.Code == http.StatusNoContent && method == http.MethodOptions:
		case w.Code == http.StatusOK && !opens:
			t.Errorf("%s %q?%q: %d %s", method, path, query, w.Code, w.Body)
		case w.Code >= 500:
			t.Errorf("%s %q?%q: %d %s", method, path, query, w.Code, w.Body)
		case escaped != "/o/object" && !json.Valid(w.Body.Bytes()):
			t.Errorf("%s %q?%q: %s", method, path, query, w.Body)
		}
		if secret := strings.TrimPrefix(strings.TrimPrefix(path, "/p/"), "/o/"); len(secret) > 20 && (strings.Contains(h.log.String(), secret) || w.Code >= 400 && strings.Contains(w.Body.String(), secret)) {
			t.Errorf("%q is in the log or the answer: %s %s", path, h.log.String(), w.Body)
		}
	})
}
