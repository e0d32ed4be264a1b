package demomail

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-msgauth/dkim"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/standardhooks"
	"github.com/miekg/dns"
)

// TestReceiver checks what the receiver answers to signed, forged, old and refused webhooks, and
// that it shows only those that it accepts.
func TestReceiver(t *testing.T) {
	t.Parallel()
	secret, other := standardhooks.NewSecret(), standardhooks.NewSecret()
	now := core.SystemClock()
	const body = `{"domain":"orders.example.com","sender":"a@example.org","recipients":["support@orders.example.com"],"message":{"subject":"Hello\u001b[2J"}}`
	for name, tc := range map[string]struct {
		body, signer string
		at           time.Time
		closed       bool
		status       int
	}{
		"signed":             {body: body, signer: secret, at: now, status: http.StatusNoContent},
		"forged":             {body: body, signer: other, at: now, status: http.StatusUnauthorized},
		"old":                {body: body, signer: secret, at: now.Add(-time.Hour), status: http.StatusUnauthorized},
		"before the start":   {body: body, signer: secret, at: now, closed: true, status: http.StatusUnauthorized},
		"not JSON":           {body: "{", signer: secret, at: now, status: http.StatusBadRequest},
		"refused local part": {body: strings.Replace(body, "support@", "returns@", 1), signer: secret, at: now, status: http.StatusServiceUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var screen bytes.Buffer
			r := &Receiver{out: &screen}
			r.Show()
			if !tc.closed {
				r.Accept(func(context.Context) ([]string, error) { return []string{standardhooks.NewSecret(), secret}, nil })
			}
			signature, err := standardhooks.Sign("id-1", tc.at, []byte(tc.body), tc.signer)
			if err != nil {
				t.Fatal(err)
			}
			request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, receiverPath, strings.NewReader(tc.body))
			request.Header.Set("webhook-id", "id-1")
			request.Header.Set("webhook-timestamp", strconv.FormatInt(tc.at.Unix(), 10))
			request.Header.Set("webhook-signature", signature)
			answer := httptest.NewRecorder()
			r.ServeHTTP(answer, request)
			shown := strings.Contains(screen.String(), "Subject: Hello[2J\n")
			if answer.Code != tc.status || shown != (tc.status == http.StatusNoContent) {
				t.Errorf("status %d, want %d; screen %q", answer.Code, tc.status, screen.String())
			}
		})
	}
}

// TestNames asks the name server, and verifies the signature of each message by its records.
func TestNames(t *testing.T) {
	t.Parallel()
	n, err := ServeNames()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	ask := func(name string) *dns.Msg {
		answer, _, err := new(dns.Client).ExchangeContext(t.Context(), new(dns.Msg).SetQuestion(name, dns.TypeTXT), n.Address)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	for name, want := range map[string]int{
		"bank.example.net.": dns.RcodeSuccess, "Example.COM.": dns.RcodeSuccess, "_domainkey.example.com.": dns.RcodeSuccess, "elsewhere.example.": dns.RcodeNameError,
	} {
		if got := ask(name).Rcode; got != want {
			t.Errorf("%s: %s, want %s", name, dns.RcodeToString[got], dns.RcodeToString[want])
		}
	}
	lookup := func(domain string) ([]string, error) {
		var texts []string
		for _, rr := range ask(domain + ".").Answer {
			texts = append(texts, strings.Join(rr.(*dns.TXT).Txt, ""))
		}
		return texts, nil
	}
	for _, l := range append(append(inboxLetters(), domainLetters()...), lostLetter) {
		raw, err := n.compose(l, "x@inbox.localhost", core.SystemClock())
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(bytes.ReplaceAll(raw, []byte("\r\n"), nil), []byte("\n")) {
			t.Errorf("%s: a line ends without CRLF", l.subject)
		}
		found, err := dkim.VerifyWithOptions(bytes.NewReader(raw), &dkim.VerifyOptions{LookupTXT: lookup})
		if signed := err == nil && len(found) == 1 && found[0].Err == nil; signed == l.forged {
			t.Errorf("%s: signatures %v, %v", l.subject, found, err)
		}
	}
}

// TestMoveWebhooks checks that a start moves the webhooks of earlier receivers with their settings,
// and no others.
func TestMoveWebhooks(t *testing.T) {
	t.Parallel()
	const list = `{"data":[{"domain":"a.example.com","webhook":{"url":"https://localhost:1/orders","allow_patterns":["x"],"spam_posture":"drop","virus_posture":"tag"}},
		{"domain":"b.example.com","webhook":{"url":"https://hooks.example.com/orders","allow_patterns":[]}},{"domain":"c.example.com","webhook":null}]}`
	var put []string
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = w.Write([]byte(list))
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		put = append(put, r.URL.Path+" "+string(body))
		_, _ = w.Write([]byte("{}"))
	}))
	t.Cleanup(api.Close)
	s := Seeder{API: API{BaseURL: api.URL}, Receiver: &Receiver{URL: "https://localhost:2/orders"}}
	if err := s.moveWebhooks(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := `/v1/inbound/domains/a.example.com/webhook {"allow_patterns":["x"],"spam_posture":"drop","virus_posture":"tag","webhook_url":"https://localhost:2/orders"}`
	if len(put) != 1 || put[0] != want {
		t.Errorf("%q, want %q", put, want)
	}
}
