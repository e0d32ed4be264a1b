package rest_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/rest"
)

// FuzzRequest checks that every path, query and body gets a result, a 404 or a 422, and
// never an internal error. A result must contain the name from the path, decoded once.
func FuzzRequest(f *testing.F) {
	for _, seed := range [][3]string{
		{"a", "limit=1&on=true&text=x", `{"note":"x"}`},
		{"ada%40example.com", "", `{"note":null,"patch":{"a":null}}`},
		{"a%2Fb", "limit=1&limit=2", `{"name":"x"}`},
		{"%zz", "%zz", `{"n\u0061me":1}`},
		{"%00", "text=%00", `{"note":"\u0000"}`},
		{"%FF", ";", strings.Repeat(`{"patch":`, 100)},
		{"..", "a=b=c&&", `{} {}`},
		{":name", "%5B%5D=", "{,}"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	s, _ := newProbeStack(f)
	f.Fuzz(func(t *testing.T, segment, query, body string) {
		for _, method := range []string{http.MethodGet, http.MethodPut} {
			target := &url.URL{Scheme: "https", Host: "api.mailhelm.test", Path: "/v1/probes/" + segment, RawQuery: query}
			if path, err := url.PathUnescape(segment); err == nil {
				target.Path, target.RawPath = "/v1/probes/"+path, "/v1/probes/"+segment
			}
			r := httptest.NewRequest(method, "/", strings.NewReader(body))
			r.URL = target
			r.Header.Set("Authorization", "Bearer "+s.live)
			r.Header.Set("Content-Type", "application/json")
			if method == http.MethodGet {
				r.Body, r.ContentLength = http.NoBody, 0
			} else {
				r.URL.RawQuery = ""
			}
			w := httptest.NewRecorder()
			s.handler.ServeHTTP(w, r)
			checkFuzzed(t, r, w)
		}
	})
}

func checkFuzzed(t *testing.T, r *http.Request, w *httptest.ResponseRecorder) {
	t.Helper()
	switch w.Code {
	case 200, 201:
		var got struct{ Name string }
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		segment := strings.TrimPrefix(r.URL.EscapedPath(), "/v1/probes/")
		if want, err := url.PathUnescape(segment); err != nil || got.Name != want {
			t.Errorf("%s %q: name = %q, want %q (%v)", r.Method, segment, got.Name, want, err)
		}
	case 404, 422:
		var p core.Problem
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || p.Status != w.Code {
			t.Errorf("%s %s: %d %s", r.Method, r.URL, w.Code, w.Body)
		}
	default:
		t.Errorf("%s %s: status %d: %s", r.Method, r.URL, w.Code, w.Body)
	}
}

// FuzzIdempotencyKey checks that an accepted header value means the same key as its quoted
// form.
func FuzzIdempotencyKey(f *testing.F) {
	for _, seed := range []string{"k", `"k"`, `"a\"b"`, "a b", "ä", `"\`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		key, err := rest.IdempotencyKey([]string{header})
		if err != nil {
			return
		}
		quoted := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key) + `"`
		if again, err := rest.IdempotencyKey([]string{quoted}); err != nil || again != key {
			t.Errorf("%q is the key %q, and %q is %q, %v", header, key, quoted, again, err)
		}
	})
}
