package polls_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/mailauth/mailauthtest"
)

const (
	domain = "bakery.example"
	route  = "/v1/domain-auth/domains/" + domain
)

// caller calls the API with a key of an organization.
type caller struct {
	p   *product.Product
	key string
}

// call makes a call and returns its answer, which must have the status.
func (c caller) call(t *testing.T, method, path string, status int) (map[string]any, http.Header) {
	t.Helper()
	answer := c.p.Send(t, product.Request{Method: method, URL: c.p.BaseURL + path, Bearer: c.key})
	var body map[string]any
	if err := json.Unmarshal([]byte(answer.Body), &body); err != nil || answer.Status != status {
		t.Fatalf("%s %s: status %d, %s", method, path, answer.Status, answer.Body)
	}
	return body, answer.Header
}

// TestPolls has the product measure a domain whose records are on a name server on loopback:
// on request, once an hour, through an outage of DNS, and with an event for a change.
func TestPolls(t *testing.T) {
	t.Parallel()
	zone := mailauthtest.NewZone(t)
	zone.AddTXT("_dmarc."+domain, "v=DMARC1; p=none; rua=mailto:r@"+domain)
	zone.AddTXT(domain, "v=spf1 -all")
	p := product.Start(t, product.Options{DNS: zone.Serve(t).String()})
	if err := p.DB.DMARCReports().AddDomain(t.Context(), p.OrgID, domain, p.Clock.Now()); err != nil {
		t.Fatal(err)
	}
	c := caller{p, p.Live.APIKey}

	start := p.Clock.Now()
	asked, _ := c.call(t, http.MethodPost, route+"/remeasure", http.StatusAccepted)
	if asked["queued"] != true {
		t.Errorf("the first request: %v", asked)
	}
	measured := c.await(t, "none", start)
	refused, header := c.call(t, http.MethodPost, route+"/remeasure", http.StatusAccepted)
	wait, _ := refused["retry_after_seconds"].(float64)
	if refused["queued"] != false || wait > 3600 || wait < 3500 || refused["last_measured_at"] != measured || header.Get("Retry-After") != fmt.Sprint(wait) {
		t.Errorf("the second request: %v, Retry-After %q", refused, header.Get("Retry-After"))
	}

	p.Clock.Advance(time.Hour)
	zone.Break("_dmarc."+domain, domain)
	before := zone.Queries("_dmarc." + domain)
	c.call(t, http.MethodPost, route+"/remeasure", http.StatusAccepted)
	product.Await(t, time.Minute, func() error {
		if zone.Queries("_dmarc."+domain) == before {
			return errors.New("DNS was not asked")
		}
		return nil
	})
	if again := c.await(t, "none", start); again != measured {
		t.Errorf("measured at %s while DNS fails, before at %s", again, measured)
	}

	zone.Mend()
	zone.SetTXT("_dmarc."+domain, "v=DMARC1; p=quarantine; rua=mailto:r@"+domain)
	p.Clock.Advance(time.Hour)
	published := p.Clock.Now()
	c.call(t, http.MethodPost, route+"/remeasure", http.StatusAccepted)
	c.await(t, "quarantine", published)
	product.Await(t, time.Minute, func() error {
		timeline, _ := c.call(t, http.MethodGet, route+"/timeline", http.StatusOK)
		events, _ := timeline["data"].([]any)
		if len(events) != 1 {
			return fmt.Errorf("events %v", events)
		}
		if e, ok := events[0].(map[string]any); !ok || e["title"] != "The policy went from none to quarantine" || e["origin"] != "dns" {
			t.Fatalf("event %v", e)
		}
		return nil
	})

	other := caller{p, p.Other.Live.APIKey}
	other.call(t, http.MethodPost, route+"/remeasure", http.StatusNotFound)
}

// await waits until the domain has a policy that was measured after a time, and returns when.
func (c caller) await(t *testing.T, policy string, after time.Time) string {
	t.Helper()
	var at string
	product.Await(t, time.Minute, func() error {
		posture, _ := c.call(t, http.MethodGet, route, http.StatusOK)
		at, _ = posture["last_measured_at"].(string)
		if when, err := time.Parse(time.RFC3339, at); err != nil || when.Before(after) || posture["policy"] != policy {
			return fmt.Errorf("policy %v at %q, want %s after %s", posture["policy"], at, policy, after)
		}
		return nil
	})
	return at
}
