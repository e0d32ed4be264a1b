package ingest_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestInvalidNotificationsCauseNoFetch checks that a message with a wrong path, topic, time
// or signature format causes no fetch.
func TestInvalidNotificationsCauseNoFetch(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	otherTopic, unpinned := notification(deliveryOf("x")), subscription()
	otherTopic["TopicArn"] += "-other"
	old := notification(deliveryOf("x"))
	old["Timestamp"] = now.Add(-2 * time.Hour).Format(time.RFC3339)
	unsigned := notification(deliveryOf("x"))
	elsewhere := subscription()
	elsewhere["TopicArn"] += "-other"
	for range 10 {
		problem(t, s.notify("nobodys", notification(deliveryOf("x")).sign(t, s.signer.key)), 401, "invalid_key")
		problem(t, s.notify("nobodys", subscription().sign(t, s.signer.key)), 401, "invalid_key")
		problem(t, s.notify("path-unpinned", unpinned.sign(t, s.signer.key)), 401, "invalid_key")
		problem(t, s.notify("path-ses", otherTopic.sign(t, s.signer.key)), 401, "invalid_key")
		problem(t, s.notify("path-ses", elsewhere.sign(t, s.signer.key)), 401, "invalid_key")
		problem(t, s.notify("path-ses", old.sign(t, s.signer.key)), 401, "invalid_key")
		unsigned["Signature"] = "*"
		problem(t, s.notify("path-ses", unsigned), 401, "invalid_key")
	}
	if asked := s.internet.requests(); len(asked) > 0 {
		t.Errorf("asked for %v", asked)
	}
}

// TestFloodOfCertificates checks a sender who knows the ingest path and the SNS topic, and
// whose messages name many certificates that do not exist. At most four fetches run at a
// time, one for each URL. Other requests are not delayed, and the valid certificate stays
// cached.
func TestFloodOfCertificates(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	genuine := notification(deliveryOf("genuine")).sign(t, s.signer.key)
	wantAccepted(t, s.notify("path-ses", genuine))
	before := len(s.internet.requests())
	s.internet.mu.Lock()
	s.internet.stuck = make(chan struct{})
	s.internet.mu.Unlock()
	var all, answered sync.WaitGroup
	flood := func(n int, wait *sync.WaitGroup) {
		forged := notification(deliveryOf("forged"))
		forged["SigningCertURL"] = "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-" + strconv.Itoa(n) + ".pem"
		forged.sign(t, foreignKey())
		wait.Go(func() { problem(t, s.notify("path-ses", forged), 503, "upstream_unavailable") })
	}
	for n := range 4 {
		for range 10 {
			flood(n, &all)
		}
	}
	for len(s.internet.requests()) < before+4 {
		runtime.Gosched()
	}
	for n := range 100 {
		flood(4+n, &answered)
	}
	answered.Wait() // the requests end although the four fetches still run
	wantAccepted(t, s.notify("path-ses", genuine))
	close(s.internet.stuck)
	all.Wait()
	if got := len(s.internet.requests()) - before; got != 4 {
		t.Errorf("%d fetches, want 4", got)
	}
	for n := range 300 { // more than the cache holds
		flood(1000+n, &all)
		all.Wait()
	}
	atOnce := len(s.internet.requests())
	wantAccepted(t, s.notify("path-ses", genuine))
	if len(s.internet.requests()) != atOnce {
		t.Error("the genuine certificate was forgotten for others that are not there")
	}
}

var requestIDs = regexp.MustCompile(`"request_id":"[^"]*"`)

// TestPathsOfOthersCannotBeFound checks requests without a valid signature or ingest key.
// They must get the same answer for an existing and for an unknown path.
func TestPathsOfOthersCannotBeFound(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	signedHeader := map[string]string{"X-Amz-Sns-Message-Type": "Notification"}
	for name, sent := range map[string]struct {
		header map[string]string
		body   string
		want   int
	}{
		"nothing":                 {nil, "", 401},
		"no proof":                {nil, deliveryOf("x"), 401},
		"another key":             {map[string]string{"X-Api-Key": "guess"}, deliveryOf("x"), 401},
		"another key, no event":   {map[string]string{"X-Api-Key": "guess"}, "{", 401},
		"no notification":         {signedHeader, "{", 400},
		"not UTF-8":               {signedHeader, "{\"Type\":\"\xff\"}", 400},
		"another notification":    {signedHeader, `{"Type":"Notification"}`, 401},
		"too long":                {signedHeader, strings.Repeat(" ", 256<<10+1), 413},
		"too long for a key":      {map[string]string{"X-Api-Key": "guess"}, strings.Repeat(" ", 256<<10+1), 413},
		"compressed":              {map[string]string{"X-Api-Key": "guess", "Content-Encoding": "gzip"}, "\x1f\x8b", 415},
		"compressed notification": {map[string]string{"X-Amz-Sns-Message-Type": "Notification", "Content-Encoding": "br"}, "x", 415},
	} {
		answer := func(path string) []string {
			w := s.post(path, sent.header, []byte(sent.body))
			if w.Code != sent.want {
				t.Errorf("%s: answered %d, want %d", name, w.Code, sent.want)
			}
			w.Header().Del("X-Request-Id")
			return []string{strconv.Itoa(w.Code), requestIDs.ReplaceAllString(w.Body.String(), ""), strings.Join(headerLines(w), "\n")}
		}
		for _, path := range []string{"path-ses", "path-simulated", "path-unpinned"} {
			if diff := cmp.Diff(answer("nobodys"), answer(path)); diff != "" {
				t.Errorf("%s: %s differs (-unknown +existing):\n%s", name, path, diff)
			}
		}
	}
	if strings.Contains(s.log.String(), "path-") || strings.Contains(s.log.String(), "nobodys") || strings.Contains(s.log.String(), "@") {
		t.Error("the log repeats a path or an address")
	}
}

func headerLines(w *httptest.ResponseRecorder) []string {
	var text strings.Builder
	if err := w.Header().Write(&text); err != nil {
		return []string{err.Error()}
	}
	return strings.Split(text.String(), "\r\n")
}

// TestContentTypes checks that any Content-Type is accepted, because Amazon SNS sends JSON
// as text/plain. Methods other than POST must get 405.
func TestContentTypes(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for _, kind := range []string{"application/json", "text/plain; charset=UTF-8", "application/x-www-form-urlencoded", "nonsense", ""} {
		w := s.post("path-ses", map[string]string{"X-Api-Key": eventKey, "Content-Type": kind, "Content-Encoding": "identity"}, []byte(deliveryOf("typed")))
		wantAccepted(t, w)
	}
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions, "BREW"} {
		for _, path := range []string{"path-ses", "nobodys"} {
			w := httptest.NewRecorder()
			s.handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, "/ingest/ses/"+path, http.NoBody))
			if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != http.MethodPost {
				t.Errorf("%s: %d, Allow %q", method, w.Code, w.Header().Get("Allow"))
			}
		}
	}
}
