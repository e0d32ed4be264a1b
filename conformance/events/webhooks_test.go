package events

import (
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/webhooks"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// TestWebhooksReportSimulatedMail sends mail through a simulated sending account. An https
// server must receive the chosen events as requests that the library of Standard Webhooks
// accepts. It refuses every first attempt, so each event must come again with the same id.
func TestWebhooksReportSimulatedMail(t *testing.T) {
	t.Parallel()
	inbox := newInbox(t)
	product.EachWith(t, product.Options{WebhookCAs: inbox.roots}, func(t *testing.T, p *product.Product) {
		p.Connect(t, sending.NewConnection{OrgID: p.OrgID, Provider: sending.Simulated}, nil)
		path := "/" + core.NewID()
		_, secret, err := p.Webhooks.Create(t.Context(), access.ActorOf(access.Operator), p.OrgID, core.NewID(), webhooks.Settings{
			URL: inbox.server.URL + path, Types: []webhooks.EventType{webhooks.Delivered, webhooks.Bounced, webhooks.Complained}, Enabled: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		inbox.expect(path, secret)
		account := sending.NewAccounts(sending.AccountsConfig{Connections: p.Connections, Otherwise: p.Simulator, Clock: p.Clock.Now})
		for _, name := range []string{"success", "bounce", "complaint"} {
			if _, err := account.Send(t.Context(), p.OrgID, sending.Message{
				Envelope: sending.Envelope{From: "shop@example.com", ConfigurationSet: "transactional"},
				To:       []string{name + "@simulator.amazonses.com"}, Content: sending.Content{Subject: "How are you?", Text: "We are well."},
			}); err != nil {
				t.Fatal(err)
			}
		}
		p.Clock.Advance(24 * time.Hour) // a simulated complaint arrives long after its message
		want := map[string]int{
			"delivered success@simulator.amazonses.com": 2, "bounced bounce@simulator.amazonses.com": 2,
			"delivered complaint@simulator.amazonses.com": 2, "complained complaint@simulator.amazonses.com": 2,
		}
		product.Await(t, 30*time.Second, func() error {
			p.Clock.Advance(2 * time.Second) // the second attempt is due
			if diff := cmp.Diff(want, inbox.counts(path)); diff != "" {
				return fmt.Errorf("events (-want +got):\n%s", diff)
			}
			return nil
		})
		inbox.check(t, path)
	})
}

// inbox is an https server on the loopback that verifies webhooks. Each path belongs to one
// endpoint.
type inbox struct {
	server *httptest.Server
	roots  *x509.CertPool

	mu        sync.Mutex
	endpoints map[string]*arrivals
}

// arrivals has what arrived for an endpoint: the number of requests by event and recipient,
// and by webhook-id, and the requests that were not as they must be.
type arrivals struct {
	secret       string
	events, byID map[string]int
	problems     []string
}

func newInbox(t *testing.T) *inbox {
	t.Helper()
	in := &inbox{roots: x509.NewCertPool(), endpoints: map[string]*arrivals{}}
	in.server = httptest.NewTLSServer(http.HandlerFunc(in.receive))
	t.Cleanup(in.server.Close)
	in.roots.AddCert(in.server.Certificate())
	return in
}

func (in *inbox) expect(path, secret string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.endpoints[path] = &arrivals{secret: secret, events: map[string]int{}, byID: map[string]int{}}
}

func (in *inbox) counts(path string) map[string]int {
	in.mu.Lock()
	defer in.mu.Unlock()
	counts := map[string]int{}
	for event, n := range in.endpoints[path].events {
		counts[event] = n
	}
	return counts
}

func (in *inbox) check(t *testing.T, path string) {
	t.Helper()
	in.mu.Lock()
	defer in.mu.Unlock()
	at := in.endpoints[path]
	for _, problem := range at.problems {
		t.Error(problem)
	}
	for id, n := range at.byID {
		if n != 2 {
			t.Errorf("%d requests with the id %s, want 2", n, id)
		}
	}
}

// receive refuses the first request with an id and accepts the second.
func (in *inbox) receive(w http.ResponseWriter, r *http.Request) {
	in.mu.Lock()
	defer in.mu.Unlock()
	at := in.endpoints[r.URL.Path]
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = at.verify(r.Header, body)
	}
	var event struct {
		Type string `json:"type"`
		Data struct {
			Recipient string `json:"recipient"`
			Subject   string `json:"subject"`
		} `json:"data"`
	}
	if err == nil {
		err = json.Unmarshal(body, &event)
	}
	if err != nil || event.Data.Subject != "How are you?" {
		at.problems = append(at.problems, fmt.Sprintf("%s: %v", body, err))
	}
	at.events[event.Type+" "+event.Data.Recipient]++
	id := r.Header.Get("webhook-id")
	if at.byID[id]++; at.byID[id] == 1 {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// verify checks the signature with the library. It ignores the timestamp, because the
// library does not know the product's clock.
func (a *arrivals) verify(h http.Header, body []byte) error {
	hook, err := standardwebhooks.NewWebhook(a.secret)
	if err != nil {
		return err
	}
	return hook.VerifyIgnoringTimestamp(body, h)
}
