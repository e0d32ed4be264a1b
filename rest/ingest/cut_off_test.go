package ingest_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"
)

// TestBodiesThatEndEarly checks bodies that stop early at a point where the event looks
// complete. They must not be stored, and waiting for the rest must not delay other
// requests.
func TestBodiesThatEndEarly(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	server := httptest.NewUnstartedServer(s.handler)
	server.Config.ReadTimeout = 500 * time.Millisecond
	server.Start()
	t.Cleanup(server.Close)
	// open sends a request whose header announces a longer body than is sent.
	open := func(framing, body string) *net.TCPConn {
		dialed, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		conn, _ := dialed.(*net.TCPConn)
		t.Cleanup(func() { _ = conn.Close() })
		if _, err := fmt.Fprintf(conn, "POST /ingest/ses/path-ses HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\n%s\r\n\r\n%s", eventKey, framing, body); err != nil {
			t.Fatal(err)
		}
		return conn
	}
	event := deliveryOf("cut-off")
	announced := fmt.Sprint("Content-Length: ", len(event)+1)
	chunk := fmt.Sprintf("%x\r\n%s\r\n", len(event), event)
	var all sync.WaitGroup
	for framing, body := range map[string]string{announced: event, "Transfer-Encoding: chunked": chunk} {
		cut := open(framing, body)
		if err := cut.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		for _, conn := range []*net.TCPConn{cut, open(framing, body)} {
			all.Go(func() {
				answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
				if err != nil {
					return // the connection was closed
				}
				defer answer.Body.Close()
				text, _ := io.ReadAll(answer.Body)
				if answer.StatusCode == http.StatusAccepted || !strings.Contains(string(text), "ended before") {
					t.Errorf("%s: answered %d %s", framing, answer.StatusCode, text)
				}
			})
		}
	}
	broken := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/ingest/ses/path-ses",
		io.MultiReader(strings.NewReader(event), iotest.ErrReader(io.ErrUnexpectedEOF)))
	broken.Header.Set("X-Api-Key", eventKey)
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, broken)
	problem(t, w, 400, "validation_failed")
	wantAccepted(t, s.post("path-ses", map[string]string{"X-Api-Key": eventKey}, []byte(deliveryOf("whole"))))
	all.Wait()
	if cut, whole := s.countStored("org-ses", "cut-off"), s.countStored("org-ses", "whole"); cut != 0 || whole != 1 {
		t.Errorf("%d events of bodies that were cut off, %d of one that was not", cut, whole)
	}
}

// TestContradictoryHeaders checks that repeated or contradictory headers cannot replace a
// valid key or signature.
func TestContradictoryHeaders(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	genuine := notification(deliveryOf("signed")).sign(t, s.signer.key)
	key, kind := "X-Api-Key", "X-Amz-Sns-Message-Type"
	for name, test := range map[string]struct {
		header http.Header
		body   string
		want   int
	}{
		"a wrong key before the right one":    {http.Header{key: {"guess", eventKey}}, deliveryOf("x"), 401},
		"the key with a comma":                {http.Header{key: {eventKey + "," + eventKey}}, deliveryOf("x"), 401},
		"a key and no signature":              {http.Header{key: {eventKey}, kind: {"Notification"}}, deliveryOf("x"), 401},
		"a type in another case":              {http.Header{kind: {"notification"}}, asJSON(t, genuine), 401},
		"another type than the message's":     {http.Header{kind: {"SubscriptionConfirmation"}}, asJSON(t, genuine), 401},
		"a wrong key beside a good signature": {http.Header{key: {"guess"}, kind: {"Notification"}}, asJSON(t, genuine), 202},
		"compressed in the second line":       {http.Header{key: {eventKey}, "Content-Encoding": {"identity", "gzip"}}, "\x1f\x8b", 400},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/ingest/ses/path-ses", strings.NewReader(test.body))
		r.Header = test.header
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, r)
		if w.Code != test.want {
			t.Errorf("%s: answered %d %s, want %d", name, w.Code, w.Body, test.want)
		}
	}
	if s.countStored("org-ses", "x") != 0 || s.countStored("org-ses", "signed") != 1 {
		t.Error("stored without a proof, or not with one")
	}
}

// TestMembersNamedTwice checks messages in which a JSON member is repeated or spelled
// differently. An event that was not signed must never be stored.
func TestMembersNamedTwice(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	genuine := asJSON(t, notification(deliveryOf("signed")).sign(t, s.signer.key))
	forged := asJSON(t, note{"Message": deliveryOf("forged")})
	forged = strings.Trim(forged, "{}")
	for _, member := range []string{forged, strings.Replace(forged, "Message", "message", 1), strings.Replace(forged, "Message", "MESSAGE", 1)} {
		inside := strings.TrimSuffix(strings.TrimPrefix(genuine, "{"), "}")
		for _, body := range []string{"{" + member + "," + inside + "}", "{" + inside + "," + member + "}"} {
			s.post("path-ses", map[string]string{"X-Amz-Sns-Message-Type": "Notification"}, []byte(body))
		}
	}
	if s.countStored("org-ses", "forged") != 0 {
		t.Error("a member that was not signed is taken for one that was")
	}
}
