package beacon_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/site"
	"github.com/mailhelm/mailhelm/rest/beacon"
	"github.com/mailhelm/mailhelm/rest/beacon/script"
)

// serve answers a request. taken has the body that the handler passed on.
func serve(t *testing.T, outcome site.Outcome, r *http.Request) (answer *httptest.ResponseRecorder, taken string) {
	t.Helper()
	h, err := beacon.New(beacon.Config{
		Accept: func(remote string, body []byte) site.Outcome {
			taken = remote + " " + string(body)
			return outcome
		},
		Remote: func(*http.Request) string { return "192.0.2.1:5" },
	})
	if err != nil {
		t.Fatal(err)
	}
	answer = httptest.NewRecorder()
	h.ServeHTTP(answer, r)
	return answer, taken
}

func TestVisitPassesBodies(t *testing.T) {
	t.Parallel()
	full := strings.Repeat("x", site.MaxBody)
	for name, test := range map[string]struct {
		body    io.Reader
		outcome site.Outcome
		taken   string
		status  int
	}{
		"full":              {strings.NewReader(full), site.Accepted, full, http.StatusNoContent},
		"too large":         {strings.NewReader(full + "x"), site.Malformed, "", http.StatusNoContent},
		"without length":    {io.MultiReader(strings.NewReader(full)), site.Malformed, full, http.StatusNoContent},
		"too large, no end": {io.MultiReader(strings.NewReader(full + "x")), site.Malformed, "", http.StatusNoContent},
		"broken":            {io.MultiReader(strings.NewReader("{}"), broken{}), site.Malformed, "", http.StatusNoContent},
		"off":               {strings.NewReader("{}"), site.TurnedOff, "{}", http.StatusNotFound},
	} {
		answer, taken := serve(t, test.outcome, httptest.NewRequest(http.MethodPost, "/s/visit", test.body))
		if taken != "192.0.2.1:5 "+test.taken || answer.Code != test.status || answer.Body.Len() > 0 {
			t.Errorf("%s: took %d bytes, answered %d %q", name, len(taken), answer.Code, answer.Body)
		}
	}
}

// broken is a body whose connection ends.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestScript(t *testing.T) {
	t.Parallel()
	request := httptest.NewRequest(http.MethodGet, script.JavaScriptPath, nil)
	plain, _ := serve(t, site.Accepted, request)
	if plain.Body.String() != string(script.JavaScript()) || plain.Header().Get("Content-Encoding") != "" {
		t.Errorf("%v", plain.Header())
	}
	for accepted, compressed := range map[string]bool{"gzip": true, "br, GZIP;q=0.5": true, "gzip;q=0": false, "gzip;q=0.000": false, "deflate": false} {
		request.Header.Set("Accept-Encoding", accepted)
		answer, _ := serve(t, site.Accepted, request)
		if got := answer.Header().Get("Content-Encoding") == "gzip"; got != compressed {
			t.Errorf("%s: %v", accepted, answer.Header())
		}
		if !compressed {
			continue
		}
		z, err := gzip.NewReader(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(z); err != nil || string(text) != string(script.JavaScript()) {
			t.Errorf("%s: %d bytes, %v", accepted, len(text), err)
		}
		again := request.Clone(t.Context())
		again.Header.Set("If-None-Match", answer.Header().Get("ETag"))
		if answer, _ := serve(t, site.Accepted, again); answer.Code != http.StatusNotModified || answer.Body.Len() > 0 {
			t.Errorf("%d %v", answer.Code, answer.Header())
		}
	}
	if plain.Header().Get("Content-Type") != "application/javascript" || strings.ContainsFunc(string(script.JavaScript()), func(r rune) bool { return r > 126 }) {
		t.Error("the script has other characters than ASCII, so its type needs a charset")
	}
}
