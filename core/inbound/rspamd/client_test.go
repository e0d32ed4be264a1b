package rspamd_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inbound/rspamd"
	"github.com/mailhelm/mailhelm/core/inbound/scanning/scanningtest"
)

// envelope returns the envelope of a message to two recipients.
func envelope() inbound.Envelope {
	return inbound.Envelope{
		ID: "0197e0c2-1111-7000-8000-000000000001", Sender: "sender@example.com", Helo: "mx.example.com",
		RemoteIP: netip.MustParseAddr("192.0.2.7"),
		Routes:   []inbound.Route{{Recipient: "One@example.net"}, {Recipient: "two@example.net"}},
	}
}

// mail returns a message.
func mail(subject, body string) string {
	return "From: sender@example.com\r\nTo: one@example.net\r\nSubject: " + subject + "\r\n\r\n" + body + "\r\n"
}

func scan(t *testing.T, c *rspamd.Client, e inbound.Envelope, message string) (inbound.Finding, error) {
	t.Helper()
	return c.Scan(t.Context(), e, strings.NewReader(message), int64(len(message)))
}

// TestRspamd judges messages by the real rspamd.
func TestRspamd(t *testing.T) {
	t.Parallel()
	server := scanningtest.StartRspamd(t)
	client := rspamd.New(server.URL)
	scored := func(score int, verdict inbound.Verdict, action string) inbound.Finding {
		return inbound.Finding{Verdict: verdict, Reason: action, Score: float64(score), Symbols: []string{scanningtest.ScoreSymbol(score)}}
	}
	hostile := envelope()
	hostile.Sender, hostile.Helo = "", "mx\r\nFrom: eve@example.com\x00\xff"
	hostile.RemoteIP = netip.MustParseAddr("fe80::1%eth0")
	hostile.Routes = slices.Repeat([]inbound.Route{{Recipient: strings.Repeat("ä", 120) + "@" + strings.Repeat("a", 2000)}}, 1000)
	t.Run("messages", func(t *testing.T) {
		t.Parallel()
		for name, tc := range map[string]struct {
			envelope inbound.Envelope
			message  string
			want     inbound.Finding
		}{
			"ordinary":        {envelope(), mail("Hello", "How are you?"), inbound.Finding{Verdict: inbound.Pass, Reason: "no action"}},
			"greylist":        {envelope(), mail(scanningtest.SubjectFor(4), "x"), scored(4, inbound.Gray, "greylist")},
			"add header":      {envelope(), mail(scanningtest.SubjectFor(6), "x"), scored(6, inbound.Fail, "add header")},
			"rewrite subject": {envelope(), mail(scanningtest.SubjectFor(8), "x"), scored(8, inbound.Fail, "rewrite subject")},
			"reject":          {envelope(), mail(scanningtest.SubjectFor(15), "x"), scored(15, inbound.Fail, "reject")},
			"GTUBE":           {envelope(), mail("Hello", scanningtest.GTUBE()), inbound.Finding{Verdict: inbound.Fail, Reason: "reject", Score: 15, Symbols: []string{"GTUBE"}}},
			"nothing known":   {inbound.Envelope{}, mail(scanningtest.SubjectFor(6), "x"), scored(6, inbound.Fail, "add header")},
			"hostile":         {hostile, mail(scanningtest.SubjectFor(6), "x"), scored(6, inbound.Fail, "add header")},
			"empty":           {envelope(), "", inbound.Finding{Verdict: inbound.Pass, Reason: "no action"}},
			"zeros":           {envelope(), strings.Repeat("\x00", 100_000), inbound.Finding{Verdict: inbound.Pass, Reason: "no action"}},
			"almost too large": {
				envelope(), mail(scanningtest.SubjectFor(6), strings.Repeat("x\r\n", scanningtest.MaxSpamSize/3-100)),
				scored(6, inbound.Fail, "add header"),
			},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				got, err := scan(t, client, tc.envelope, tc.message)
				if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
					t.Errorf("%v (-want +got):\n%s", err, diff)
				}
			})
		}
		for name, size := range map[string]int{"slightly too large": scanningtest.MaxSpamSize + 1, "far too large": 16 << 20} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				// This version of rspamd closes the connection; later ones may answer with status 413.
				if got, err := scan(t, client, envelope(), strings.Repeat("x", size)); err == nil {
					t.Errorf("%+v, want an error", got)
				}
			})
		}
		t.Run("ping", func(t *testing.T) {
			t.Parallel()
			if err := client.Ping(t.Context()); err != nil {
				t.Error(err)
			}
		})
	})
	t.Cleanup(func() {
		if n := server.Queries(); n != 0 {
			t.Errorf("rspamd sent %d DNS queries, want none", n)
		}
	})
}

// fake starts a server with a handler in the place of rspamd.
func fake(t *testing.T, handler http.HandlerFunc) *rspamd.Client {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	at, err := url.Parse(s.URL + "/behind/a/proxy")
	if err != nil {
		t.Fatal(err)
	}
	return rspamd.New(at)
}

// TestRequest checks the path, the headers and the body of a request.
func TestRequest(t *testing.T) {
	t.Parallel()
	requests := make(chan *http.Request, 1)
	client := fake(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if err != nil {
			t.Error(err)
		}
		requests <- r
		fmt.Fprint(w, `{"action":"no action"}`)
	})
	e := envelope()
	e.Helo, e.RemoteIP = "mx\r\nIP: 127.0.0.1", netip.MustParseAddr("::ffff:192.0.2.7")
	if _, err := scan(t, client, e, "raw"); err != nil {
		t.Fatal(err)
	}
	r := <-requests
	body, err := io.ReadAll(r.Body)
	if err != nil || string(body) != "raw" || r.Method != http.MethodPost || r.URL.Path != "/behind/a/proxy/checkv2" || r.ContentLength != 3 {
		t.Errorf("%s %s %q %d: %v", r.Method, r.URL, body, r.ContentLength, err)
	}
	want := http.Header{
		"Ip": {"192.0.2.7"}, "Helo": {"mx??IP: 127.0.0.1"}, "From": {"<sender@example.com>"},
		"Rcpt": {"<One@example.net>", "<two@example.net>"}, "Queue-Id": {e.ID},
		"Connection": {"close"}, "Content-Length": {"3"}, "User-Agent": {"Go-http-client/1.1"},
	}
	if diff := cmp.Diff(want, r.Header); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	e.Sender, e.RemoteIP = "", netip.Addr{}
	e.Routes = slices.Repeat(e.Routes, 500)
	if _, err := scan(t, client, e, "raw"); err != nil {
		t.Fatal(err)
	}
	r = <-requests
	if from, recipients := r.Header["From"], r.Header["Rcpt"]; !slices.Equal(from, []string{"<>"}) || len(recipients) != 50 || r.Header["Ip"] != nil {
		t.Errorf("from %q, %d recipients, IP %q", from, len(recipients), r.Header["Ip"])
	}
}

// TestAnswers checks the verdicts of answers that the real rspamd gives with other
// configurations only, and of answers that are wrong.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]inbound.Finding{
		`{"action":"soft reject","score":1.5}`: {Verdict: inbound.Gray, Reason: "soft reject", Score: 1.5},
		`{"action":"rewrite_subject"}`:         {Verdict: inbound.Fail, Reason: "rewrite subject"},
		`{"action":"quarantine"}`:              {Verdict: inbound.Fail, Reason: "quarantine"},
		`{"action":"discard"}`:                 {Verdict: inbound.Fail, Reason: "discard"},
		`{"action":"of the\u0007 operator"}`:   {Verdict: inbound.Gray, Reason: "of the operator"},
		`{"action":"no action","score":-3,"symbols":{"B":{"options":["x"]},"A":{}}}`: {
			Verdict: inbound.Pass, Reason: "no action", Score: -3, Symbols: []string{"A", "B"},
		},
		`{"action":"` + strings.Repeat("é", 300) + `"}`: {Verdict: inbound.Gray, Reason: strings.Repeat("é", 200)},
	} {
		got, err := scan(t, fake(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }), envelope(), "raw")
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", body, err, diff)
		}
	}
	var symbols strings.Builder
	for i := range 500 {
		fmt.Fprintf(&symbols, `,"S%03d":{}`, i)
	}
	got, err := scan(t, fake(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"action":"reject","symbols":{"X":{}%s}}`, symbols.String())
	}), envelope(), "raw")
	if err != nil || len(got.Symbols) != 100 || got.Symbols[0] != "S000" {
		t.Errorf("%d symbols, %v", len(got.Symbols), err)
	}
	for _, body := range []string{``, `{}`, `[]`, `null`, `{"action":""}`, `{"action":7}`, `{"action":"reject"`, `{"action":"reject"}{`, `<html>`, `{"action":"reject","score":"x"}`, strings.Repeat("[", 100_000)} {
		if got, err := scan(t, fake(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }), envelope(), "raw"); err == nil {
			t.Errorf("%.50q: %+v, want an error", body, got)
		}
	}
}

// TestBadServers checks that every failure of a server is an error, and that no redirect is
// followed.
func TestBadServers(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	at, err := url.Parse(gone.URL)
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	hijacked := func(text string) *rspamd.Client {
		return fake(t, func(w http.ResponseWriter, r *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.WriteString(conn, text) // the client may have gone
			_ = conn.Close()
		})
	}
	for name, tc := range map[string]struct {
		client *rspamd.Client
		says   string
	}{
		"gone":           {rspamd.New(at), "refused"},
		"closes at once": {hijacked(""), "EOF"},
		"closes in the middle": {
			hijacked("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"action\":\"no action\"}"),
			"unexpected EOF",
		},
		"garbage": {hijacked("\x00\xff\x00\xffgarbage\n\n"), "malformed"},
		"huge answer": {fake(t, func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"action":"no action"}`)
			for range 1 << 10 {
				if _, err := io.WriteString(w, strings.Repeat(" ", 64<<10)); err != nil {
					return
				}
			}
			t.Error("64 MB were read")
		}), "larger than"},
		"huge header": {fake(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X", strings.Repeat("x", 100<<10))
			fmt.Fprint(w, `{"action":"no action"}`)
		}), "exceeded"},
		"too large": {
			fake(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusRequestEntityTooLarge) }),
			inbound.ErrTooLarge.Error(),
		},
		"redirect": {fake(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/elsewhere" {
				t.Error("the redirect was followed")
			}
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}), "status 307"},
		"error": {fake(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadGateway)
			fmt.Fprint(w, `{"action":"no action","error":"out\u0000 of order"}`)
		}), `"out of order"`},
	} {
		got, err := scan(t, tc.client, envelope(), "raw")
		if err == nil || !strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error(), "127.0.0.1:0/") {
			t.Errorf("%s: %+v, %v, want an error with %q", name, got, err, tc.says)
		}
		if err := tc.client.Ping(t.Context()); err == nil {
			t.Errorf("%s: the ping was answered", name)
		}
	}
}

// TestScanEndsWithContext checks that a server that does not answer is left at the end of the
// context, while the message is sent and afterwards.
func TestScanEndsWithContext(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"after the message": 3, "in the message": 16 << 20} {
		arrived, released := make(chan struct{}), make(chan struct{})
		client := fake(t, func(http.ResponseWriter, *http.Request) {
			close(arrived)
			<-released
		})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-arrived
			cancel()
		}()
		_, err := client.Scan(ctx, envelope(), bytes.NewReader(make([]byte, size)), int64(size))
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		close(released)
	}
}
