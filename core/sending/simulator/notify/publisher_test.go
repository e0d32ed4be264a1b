package notify_test

import (
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/sending/simulator/inprocess"
	"github.com/mailhelm/mailhelm/core/sending/simulator/notify"
	"github.com/mailhelm/mailhelm/core/sending/simulator/simulatortest"
)

// endpoint is an HTTP handler that receives notifications and responds with status. It
// verifies each signature from the notification alone, as a real receiver would.
type endpoint struct {
	t        *testing.T
	status   int
	trust    *http.Client
	received []map[string]string
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m map[string]string
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &m)
	}
	if err == nil {
		err = e.verify(r.Context(), m)
	}
	if err != nil || r.Header.Get("X-Amz-Sns-Message-Type") != m["Type"] || r.Header.Get("X-Amz-Sns-Topic-Arn") != m["TopicArn"] {
		e.t.Errorf("a bad message %s: %v", body, err)
	}
	if e.status == http.StatusOK {
		e.received = append(e.received, m)
	}
	w.WriteHeader(e.status)
}

func (e *endpoint) get(ctx context.Context, address string) ([]byte, int) {
	e.t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		e.t.Fatal(err)
	}
	answer, err := e.trust.Do(r)
	if err != nil {
		e.t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		e.t.Fatal(err)
	}
	return body, answer.StatusCode
}

func (e *endpoint) verify(ctx context.Context, m map[string]string) error {
	members := []string{"Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"}
	if m["Type"] == "SubscriptionConfirmation" {
		members = []string{"Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"}
	}
	var text strings.Builder
	for _, name := range members {
		fmt.Fprintf(&text, "%s\n%s\n", name, m[name])
	}
	signature, err := base64.StdEncoding.DecodeString(m["Signature"])
	if err != nil {
		return err
	}
	body, _ := e.get(ctx, m["SigningCertURL"])
	block, _ := pem.Decode(body)
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return err
	}
	key, _ := certificate.PublicKey.(*rsa.PublicKey)
	if m["SignatureVersion"] == "1" {
		sum := sha1.Sum([]byte(text.String()))
		return rsa.VerifyPKCS1v15(key, crypto.SHA1, sum[:], signature)
	}
	sum := sha256.Sum256([]byte(text.String()))
	return rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], signature)
}

func (e *endpoint) last() map[string]string { return e.received[len(e.received)-1] }

const topic = "arn:aws:sns:eu-west-1:123456789012:events"

func start(t *testing.T, version int) (*simulator.Simulator, *notify.Publisher, *endpoint) {
	t.Helper()
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	clock := func() time.Time { return now }
	s := simulatortest.Open(t, simulator.Options{Clock: clock})
	must(t, s.Seed(t.Context(), "org", simulator.Setup{
		Account:    &sending.Overview{SendingEnabled: true, Max24HourSend: -1},
		Identities: []sending.Identity{{Identity: "example.com", Verification: sending.Success}},
	}))
	e := &endpoint{t: t, status: http.StatusOK}
	p, err := notify.New(notify.Config{
		Outbox: s.Outbox(), Clock: clock, SignatureVersion: version,
		Client: &http.Client{Transport: inprocess.Transport{Handler: e}},
	})
	must(t, err)
	e.trust = &http.Client{Transport: p}
	return s, p, e
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestEventsArriveSigned(t *testing.T) {
	t.Parallel()
	for _, version := range []int{1, 2} {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			t.Parallel()
			s, p, e := start(t, version)
			sub := notify.Subscription{TopicARN: topic, Endpoint: "https://mail.example/ingest/ses/org"}
			for range 4 {
				_, err := s.Send(t.Context(), "org", sending.Message{
					Envelope: sending.Envelope{From: "shop@example.com"}, To: []string{"ben@example.net"},
					Content: sending.Content{Subject: "Hello", Text: "Hello"},
				})
				must(t, err)
			}
			if n, err := p.Deliver(t.Context(), sub, "org", 10); n != 0 || !errors.Is(err, notify.ErrUnconfirmed) {
				t.Errorf("before the confirmation, %d arrive, %v", n, err)
			}
			must(t, p.Subscribe(t.Context(), sub))
			if p.IsConfirmed(sub) {
				t.Error("confirmed before the link was followed")
			}
			link := e.last()["SubscribeURL"]
			if _, status := e.get(t.Context(), link); status != http.StatusOK || !p.IsConfirmed(sub) {
				t.Errorf("the link answers %d, confirmed: %v", status, p.IsConfirmed(sub))
			}
			// SES publishes this text first when an SNS topic is set as a destination of its
			// events. It is not an event record.
			must(t, p.Publish(t.Context(), sub, "Successfully validated SNS topic for Amazon SES event publishing."))
			if text := e.last()["Message"]; json.Valid([]byte(text)) {
				t.Errorf("the first message is JSON: %s", text)
			}
			e.status = http.StatusServiceUnavailable
			if n, err := p.Deliver(t.Context(), sub, "org", 10); n != 0 || err == nil {
				t.Errorf("of an endpoint that is down, %d arrive, %v", n, err)
			}
			e.status = http.StatusBadRequest
			if n, err := p.Deliver(t.Context(), sub, "org", 1); n != 0 || err != nil {
				t.Errorf("a refused event arrives %d times, %v", n, err)
			}
			e.status = http.StatusOK
			for _, want := range []int{2, 1, 0} {
				if n, err := p.Deliver(t.Context(), sub, "org", 2); n != want || err != nil {
					t.Errorf("%d arrive, %v; want %d", n, err, want)
				}
			}
			if event := e.last()["Message"]; !strings.Contains(event, `"eventType":"Send"`) {
				t.Errorf("the last message is %s", event)
			}
		})
	}
}

func TestOnlyOwnAddressesAreAnswered(t *testing.T) {
	t.Parallel()
	_, p, e := start(t, 0)
	sub := notify.Subscription{TopicARN: topic, Endpoint: "https://mail.example/"}
	must(t, p.Subscribe(t.Context(), sub))
	link := e.last()["SubscribeURL"]
	certificate, err := p.SigningCertURL()
	must(t, err)
	for _, address := range []string{
		link + "x", strings.Replace(link, "sns.", "sns.evil.", 1), strings.Replace(link, "https:", "http:", 1),
		certificate + "?x", "https://sns.eu-west-1.amazonaws.com/", "https://example.com/",
	} {
		if _, status := e.get(t.Context(), address); status != http.StatusNotFound {
			t.Errorf("%s answers %d", address, status)
		}
	}
	if err := p.Confirm(t.Context(), link, topic+"x"); !errors.Is(err, notify.ErrNotMine) {
		t.Errorf("a link of another topic: %v", err)
	}
	if _, err := p.Key(t.Context(), "https://example.com/x.pem"); !errors.Is(err, notify.ErrNotMine) {
		t.Errorf("another certificate: %v", err)
	}
	if p.IsConfirmed(sub) {
		t.Error("a bad link confirmed")
	}
	must(t, p.Confirm(t.Context(), link, topic))
	must(t, p.Confirm(t.Context(), link, topic))
	if _, err := notify.New(notify.Config{SignatureVersion: 3}); err == nil {
		t.Error("there is a signature version 3")
	}
}
