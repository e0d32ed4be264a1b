package sending_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	conformance "github.com/mailhelm/mailhelm/conformance/sending"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/ses"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

// marker is a text that every error response of the hostile provider contains, so that
// tests find it if it leaks.
const marker = "PROVIDER-TEXT ada@example.org"

// hostile is an HTTP server in place of the provider. It gives the same answer to every
// request and counts the requests.
type hostile struct {
	*httptest.Server
	mu    sync.Mutex
	paths []string
}

func newHostile(t *testing.T, answer http.HandlerFunc) *hostile {
	t.Helper()
	h := &hostile{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		h.paths = append(h.paths, r.Method+" "+r.URL.Path)
		h.mu.Unlock()
		_, _ = io.Copy(io.Discard, r.Body) // reads the body, so that r.Context ends when the caller disconnects
		answer(w, r)
	}))
	t.Cleanup(h.Close)
	return h
}

// requestCount returns the number of requests to the provider. If forAMessage is true, it
// does not count reads of the account: the adapter reads the send rate before the first
// message.
func (h *hostile) requestCount(forAMessage bool) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	paths := h.paths
	if forAMessage {
		paths = slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return path == "GET /v2/email/account" })
	}
	return len(paths)
}

func (h *hostile) account(t *testing.T, timeout time.Duration) *ses.Account {
	t.Helper()
	a, err := ses.New(ses.Config{
		AccountID: "111122223333", Region: "eu-central-1", Endpoint: h.URL, CallTimeout: timeout, RetryDelay: time.Millisecond,
		Credentials: ses.Credentials{AccessKeyID: "AKIDEXAMPLE", Secret: "secret"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// writeEndlessly writes a response that does not end until the caller disconnects.
func writeEndlessly(w http.ResponseWriter, r *http.Request) {
	ticks := time.NewTicker(time.Millisecond)
	defer ticks.Stop()
	for r.Context().Err() == nil {
		_, _ = io.WriteString(w, " ")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-ticks.C:
		case <-r.Context().Done():
		}
	}
}

// truncatedResponse returns a handler that writes the beginning of a response and then
// closes the connection.
func truncatedResponse(beginning string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, stream, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		writeAndClose(stream, beginning)
		_ = conn.Close()
	}
}

func writeAndClose(stream *bufio.ReadWriter, text string) {
	_, _ = stream.WriteString(text)
	_ = stream.Flush()
}

func respondWith(status int, code, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Amzn-Errortype", code)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// TestEveryCallHasADeadlineOfItsOwn checks that every method of the SES adapter and of the
// simulator ends after a timeout, even if the caller's context has no deadline.
func TestEveryCallHasADeadlineOfItsOwn(t *testing.T) {
	t.Parallel()
	const timeout = 20 * time.Millisecond
	for name, answer := range map[string]http.HandlerFunc{
		"never answered":         func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"answered without end":   writeEndlessly,
		"never more than a head": func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(200); <-r.Context().Done() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			everyCallEnds(t, newHostile(t, answer).account(t, timeout))
		})
	}
	t.Run("by the simulator", func(t *testing.T) {
		t.Parallel()
		s, err := simulator.Open(t.TempDir()+"/account.db", simulator.Options{CallTimeout: timeout})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		s.Faults().Set(simulator.Fault{Delay: simulator.Forever})
		everyCallEnds(t, s)
	})
}

func everyCallEnds(t *testing.T, a sending.Account) {
	t.Helper()
	for name, call := range conformance.Calls(t, a, "org") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := call(t.Context())
			conformance.WantKind(t, name, err, sending.TimedOut)
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the cause is %v", err)
			}
		})
	}
}

// doneOnce has the methods that the adapter never retries.
var doneOnce = map[string]bool{"Send": true, "SendBulk": true, "RequestProductionAccess": true}

// TestEveryFailureOfEveryCall checks the kind of each failure. The adapter must try a call
// twice if a retry may help. It must try a method that doneOnce lists only once. Errors
// must contain no text of the provider, and errors with a status from 500 on must have a
// time to retry.
func TestEveryFailureOfEveryCall(t *testing.T) {
	t.Parallel()
	text := fmt.Sprintf(`{"message":%q,"__type":%q}`, marker, marker)
	for name, test := range map[string]struct {
		answer  http.HandlerFunc
		kind    sending.FailureKind
		ofSends sending.FailureKind
		tries   int
	}{
		"throttled":             {respondWith(429, "TooManyRequestsException", text), sending.Throttled, sending.Throttled, 2},
		"a failure inside":      {respondWith(500, "InternalServiceErrorException", text), sending.Refused, sending.TimedOut, 2},
		"a plain 502":           {respondWith(502, "", "<html>"+marker), sending.Refused, sending.TimedOut, 2},
		"a plain 503":           {respondWith(503, "", marker), sending.Refused, sending.TimedOut, 2},
		"a gateway's timeout":   {respondWith(504, "", marker), sending.TimedOut, sending.TimedOut, 2},
		"credentials":           {respondWith(403, "UnrecognizedClientException", text), sending.Refused, sending.Refused, 1},
		"a code nobody knows":   {respondWith(418, marker, text), sending.Refused, sending.Refused, 1},
		"an invalid value":      {respondWith(400, "BadRequestException", text), sending.Invalid, sending.Invalid, 1},
		"a rejection":           {respondWith(400, "MessageRejected", text), sending.Rejected, sending.Rejected, 1},
		"hung up":               {truncatedResponse(""), sending.Refused, sending.TimedOut, 2},
		"half a head":           {truncatedResponse("HTTP/1.1 200 OK\r\nContent-Ty"), sending.Refused, sending.TimedOut, 2},
		"half a body":           {truncatedResponse("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{\"" + marker), sending.Refused, sending.TimedOut, 0},
		"no HTTP":               {truncatedResponse("220 " + marker + " ESMTP\r\n"), sending.Refused, sending.TimedOut, 2},
		"half a chunked answer": {truncatedResponse("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{\""), sending.Refused, sending.TimedOut, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for method := range conformance.Calls(t, nil, "org") {
				h := newHostile(t, test.answer)
				err := conformance.Calls(t, h.account(t, time.Minute), "org")[method](t.Context())
				kind, tries := test.kind, test.tries
				if doneOnce[method] {
					kind, tries = test.ofSends, 1
				}
				conformance.WantKind(t, method, err, kind)
				wantNothingShown(t, method, err)
				if n := h.requestCount(doneOnce[method]); tries != 0 && n != tries || n > 2 {
					t.Errorf("%s was tried %d times, want %d", method, n, tries)
				}
			}
		})
	}
}

// wantNothingShown checks that the error that API callers get contains no text of the
// provider.
func wantNothingShown(t *testing.T, method string, err error) {
	t.Helper()
	shown := sending.Unavailable(err)
	problem := core.ProblemOf(shown, "", "")
	text, jsonErr := json.Marshal(problem)
	if jsonErr != nil || strings.Contains(string(text), "PROVIDER") || strings.Contains(string(text), "ada@") {
		t.Errorf("%s shows callers %s, %v", method, text, jsonErr)
	}
	if e := core.AsError(shown); problem.Status >= 500 && e.RetryAfter <= 0 {
		t.Errorf("%s does not say when to come again: %s", method, text)
	}
}

// TestRoleOverASocket checks that the adapter calls AssumeRole of AWS at the endpoint of
// the connection, with the external id. It must sign later requests with the key that
// AssumeRole returned.
func TestRoleOverASocket(t *testing.T) {
	t.Parallel()
	var signed []string
	h := newHostile(t, nil)
	h.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, credential, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
		key, _, _ := strings.Cut(credential, "/")
		body, _ := io.ReadAll(r.Body)
		signed = append(signed, key+" "+r.URL.Path)
		switch {
		case r.URL.Path != "/":
			_, _ = io.WriteString(w, `{"SendingEnabled":true}`)
		case !strings.Contains(string(body), "Action=AssumeRole&") || !strings.Contains(string(body), "ExternalId=outside&"):
			respondWith(403, "AccessDenied", string(body))(w, r)
		default:
			_, _ = io.WriteString(w, `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>`+
				`<AccessKeyId>ROLEKEY</AccessKeyId><SecretAccessKey>x</SecretAccessKey><SessionToken>y</SessionToken>`+
				`<Expiration>2999-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`)
		}
	})
	opener := ses.Open(ses.Config{Credentials: ses.Credentials{AccessKeyID: "OURKEY", Secret: "ours"}, RetryDelay: time.Millisecond})
	c := sending.Connection{
		OrgID: "org", Provider: sending.SES, AccountID: "111122223333", Region: "eu-west-1", Endpoint: h.URL,
		RoleARN: "arn:aws:iam::111122223333:role/mail", ExternalID: "outside",
	}
	a, err := opener(c)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if o, err := a.Overview(t.Context(), "org"); err != nil || !o.SendingEnabled {
			t.Fatalf("%+v, %v", o, err)
		}
	}
	if want := []string{"OURKEY /", "ROLEKEY /v2/email/account", "ROLEKEY /v2/email/account"}; !slices.Equal(signed, want) {
		t.Errorf("signed %v, want %v", signed, want)
	}
	c.ExternalID = "guessed"
	if a, err = opener(c); err != nil {
		t.Fatal(err)
	}
	_, err = a.Overview(t.Context(), "org")
	conformance.WantKind(t, "another external id", err, sending.Refused)
}
