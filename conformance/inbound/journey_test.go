package inbound

import (
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/smtp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

const domain = "in.example.com"

// hook is an https server on the loopback that keeps the requests of webhooks. It refuses each
// first attempt.
type hook struct {
	server *httptest.Server
	roots  *x509.CertPool
	// patient hooks refuse nothing.
	patient bool

	mu       sync.Mutex
	requests []request
	refused  map[string]bool
	// open has the connections that are open.
	open map[net.Conn]bool
}

type request struct {
	header http.Header
	body   []byte
}

func newHook(t *testing.T) *hook {
	t.Helper()
	h := &hook{roots: x509.NewCertPool(), refused: map[string]bool{}, open: map[net.Conn]bool{}}
	h.server = httptest.NewUnstartedServer(h)
	h.server.Config.ConnState = h.note
	h.server.StartTLS()
	t.Cleanup(h.server.Close)
	h.roots.AddCert(h.server.Certificate())
	return h
}

func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.requests = append(h.requests, request{r.Header.Clone(), body})
	if id := r.Header.Get("webhook-id"); err != nil || !h.patient && !h.refused[id] {
		h.refused[id] = true
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// note notes the state of a connection.
func (h *hook) note(c net.Conn, state http.ConnState) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch state {
	case http.StateNew:
		h.open[c] = true
	case http.StateClosed, http.StateHijacked:
		delete(h.open, c)
	}
}

// disconnected waits until no connection is open. A server that stops must close its own, which
// it could use for half a minute.
func (h *hook) disconnected(t *testing.T) {
	product.Await(t, 10*time.Second, func() error {
		h.mu.Lock()
		defer h.mu.Unlock()
		if n := len(h.open); n > 0 {
			return fmt.Errorf("%d connections are open", n)
		}
		return nil
	})
}

func (h *hook) all() []request {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]request{}, h.requests...)
}

// TestMailBecomesAWebhook sends mail for a minted address, another address and an address that
// no pattern allows. The first two must arrive as signed webhooks, each again after it was
// refused and with the same id; the third must be in the log. At its stop, the server must close its
// connections to the endpoint.
func TestMailBecomesAWebhook(t *testing.T) {
	t.Parallel()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
		h := newHook(t)
		t.Cleanup(func() { h.disconnected(t) }) // after the server has stopped
		receive(t, product.Start(t, product.Options{Postgres: postgres, WebhookCAs: h.roots}), h)
	})
}

// call calls the API and decodes its answer.
func call(t *testing.T, p *product.Product, method, path, body string, status int, into any) {
	t.Helper()
	answer := p.Send(t, product.Request{Method: method, URL: p.BaseURL + "/v1/inbound" + path, Bearer: p.Live.APIKey, Body: body})
	err := error(nil)
	if into != nil {
		err = json.Unmarshal([]byte(answer.Body), into)
	}
	if answer.Status != status || err != nil {
		t.Fatalf("%s %s: %d %s, %v", method, path, answer.Status, answer.Body, err)
	}
}

func receive(t *testing.T, p *product.Product, h *hook) {
	t.Helper()
	d := receiving.Domain{ID: core.NewID(), Domain: domain, Status: receiving.Verified, Records: []receiving.Record{}, CreatedAt: p.Clock.Now()}
	if err := p.DB.ReceivingDomains().InsertDomain(t.Context(), p.OrgID, d); err != nil {
		t.Fatal(err)
	}
	var saved struct {
		Secret string `json:"hmac_secret"`
	}
	call(t, p, http.MethodPut, "/domains/"+domain+"/webhook", `{"webhook_url":"`+h.server.URL+`/mail","allow_patterns":["sales*"]}`, http.StatusOK, &saved)
	var minted struct {
		Address string `json:"address"`
	}
	call(t, p, http.MethodPost, "/domains/"+domain+"/addresses", `{"metadata":{"ticket":"42"}}`, http.StatusCreated, &minted)
	var published struct {
		Webhook struct{ Status string }
	}
	product.Await(t, 30*time.Second, func() error {
		p.Clock.Advance(2 * time.Second)
		call(t, p, http.MethodGet, "/domains/"+domain, "", http.StatusOK, &published)
		if published.Webhook.Status != "published" {
			return fmt.Errorf("the webhook is %q", published.Webhook.Status)
		}
		return send(p.SMTPAddr, "sales@"+domain, minted.Address, "other@"+domain)
	})
	product.Await(t, 30*time.Second, func() error {
		p.Clock.Advance(2 * time.Second)
		if n := len(h.all()); n != 4 {
			return fmt.Errorf("%d requests, want 4", n)
		}
		return nil
	})
	check(t, h, saved.Secret, minted.Address)
	var log struct {
		Data []struct{ Outcome string }
	}
	product.Await(t, 30*time.Second, func() error {
		call(t, p, http.MethodGet, "/messages", "", http.StatusOK, &log)
		outcomes := map[string]int{}
		for _, m := range log.Data {
			outcomes[m.Outcome]++
		}
		if outcomes["delivered"] != 2 || outcomes["no_route"] != 1 {
			return fmt.Errorf("outcomes %v", outcomes)
		}
		return nil
	})
}

// check checks the requests: two for each delivered message.
func check(t *testing.T, h *hook, secret, minted string) {
	t.Helper()
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	byID := map[string]int{}
	for _, r := range h.all() {
		byID[r.header.Get("webhook-id")]++
		if err := verifier.VerifyIgnoringTimestamp(r.body, r.header); err != nil {
			t.Errorf("signature: %v", err)
		}
		var body struct {
			Domain     string                       `json:"domain"`
			Recipients []string                     `json:"recipients"`
			Entities   map[string]map[string]string `json:"entities"`
			Message    struct{ Subject string }     `json:"message"`
		}
		if err := json.Unmarshal(r.body, &body); err != nil || body.Domain != domain || len(body.Recipients) != 1 || body.Message.Subject != "To "+body.Recipients[0] {
			t.Errorf("body %s, %v", r.body, err)
			continue
		}
		local, _, _ := strings.Cut(minted, "@")
		if isMinted := body.Recipients[0] == minted; isMinted != (body.Entities[local]["ticket"] == "42") {
			t.Errorf("entities of %s: %v", body.Recipients[0], body.Entities)
		}
	}
	if len(byID) != 2 {
		t.Errorf("requests by id %v, want two ids", byID)
	}
}

// send sends a mail to each recipient.
func send(server string, recipients ...string) error {
	for _, to := range recipients {
		c, err := smtp.Dial(server)
		if err != nil {
			return err
		}
		err = errors.Join(c.Mail("ada@example.org"), c.Rcpt(to))
		if err != nil {
			return errors.Join(err, c.Close())
		}
		w, err := c.Data()
		if err != nil {
			return errors.Join(err, c.Close())
		}
		_, err = io.WriteString(w, "From: ada@example.org\r\nTo: "+to+"\r\nSubject: To "+to+"\r\n\r\nHello\r\n")
		if err := errors.Join(err, w.Close(), c.Quit()); err != nil {
			return err
		}
	}
	return nil
}
