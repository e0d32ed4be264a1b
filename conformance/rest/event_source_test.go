package rest_test

import (
	"crypto/sha256"
	"net/http"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// TestEventsComeInBesideTheAPI posts an event of the sending provider to the running
// product twice. It checks that the API returns the event once.
func TestEventsComeInBesideTheAPI(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		key, now := sha256.Sum256([]byte("the key of the bus")), p.Clock.Now()
		err := p.DB.Connections(nil).SaveConnection(t.Context(), sending.Connection{
			OrgID: p.OrgID, Provider: sending.SES, IngestPath: "events-of-acme", IngestKeyHash: key[:], CreatedAt: now, UpdatedAt: now,
		})
		if err != nil {
			t.Fatal(err)
		}
		at := now.UTC().Format("2006-01-02T15:04:05.000Z")
		event := `{"detail-type":"Email Opened","detail":{"eventType":"Open","mail":{"timestamp":"` + at + `","messageId":"m-1",
			"source":"shop@example.com","destination":["reader@example.com"]},"open":{"timestamp":"` + at + `","userAgent":"Mail/1"}}}`
		send := func(key string) int {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.BaseURL+"/ingest/ses/events-of-acme", strings.NewReader(event))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("X-Api-Key", key)
			a, err := p.HTTP.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Body.Close()
			return a.StatusCode
		}
		for range 2 {
			if status := send("the key of the bus"); status != http.StatusAccepted {
				t.Fatalf("answered %d", status)
			}
		}
		if status := send("another key"); status != http.StatusUnauthorized {
			t.Errorf("another key: %d", status)
		}
		a := on(t, p)
		read := a.do(t, "GET", "/v1/messages/m-1", "").want(200)
		if !strings.Contains(string(read.body), `"status":"Open"`) {
			t.Errorf("the message reads %s", read.body)
		}
		happened := a.do(t, "GET", "/v1/messages/m-1/events", "").want(200)
		if strings.Count(string(happened.body), `"Open"`) != 1 {
			t.Errorf("its events read %s", happened.body)
		}
		a.do(t, "GET", "/v1/messages/m-2", "").refused(404, core.CodeNotFound)
	})
}
