package site

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/site"
)

// patience is how long the tests wait for activities on a busy machine.
const patience = 30 * time.Second

// options lets the tests choose the address of a client with X-Forwarded-For.
var options = product.Options{TrustedProxies: []string{"127.0.0.0/8"}}

// website is a site of an organization with one visitor.
type website struct {
	p       *product.Product
	org     product.Org
	key     string
	email   string
	visitor string
	address string // of the client
}

// open creates a site key for the organization and identifies a contact.
func open(t *testing.T, p *product.Product, org product.Org, email string) *website {
	t.Helper()
	w := &website{p: p, org: org, email: email, address: "192.0.2.1"}
	key, err := p.Site.Settings.Create(t.Context(), org.OrgID)
	if err != nil {
		t.Fatal(err)
	}
	w.key = key.Value
	p.Site.Changed(t.Context())
	w.visitor = w.identify(t, email)
	return w
}

// identify returns the visitor id of the contact with an address.
func (w *website) identify(t *testing.T, email string) string {
	t.Helper()
	answer := w.p.Send(t, product.Request{
		Method: http.MethodPost, URL: w.p.BaseURL + "/v1/contacts/identify", Bearer: w.org.Live.APIKey, Body: `{"email":"` + email + `"}`,
	})
	var got struct {
		VisitorID string `json:"visitor_id"`
	}
	if err := json.Unmarshal([]byte(answer.Body), &got); err != nil || got.VisitorID == "" {
		t.Fatalf("%d %s", answer.Status, answer.Body)
	}
	return got.VisitorID
}

// fields are the members of a beacon.
type fields map[string]any

// beacon returns the body of a beacon of the visitor. extra has further members, and replaces
// those of the same names.
func (w *website) beacon(name string, extra fields) string {
	all := fields{"site_key": w.key, "visitor_id": w.visitor, "event_id": core.NewID(), "name": name}
	for member, value := range extra {
		all[member] = value
	}
	body, _ := json.Marshal(all) // maps of texts and numbers always have a JSON form
	return string(body)
}

// send posts a body as browsers do and returns the answer.
func (w *website) send(t *testing.T, body string) product.Answer {
	t.Helper()
	return w.p.Send(t, product.Request{
		Method: http.MethodPost, URL: w.p.BaseURL + "/s/visit", Body: body,
		Header: product.HeaderOf("Content-Type", "text/plain;charset=UTF-8", "X-Forwarded-For", w.address, "Origin", "https://shop.example"),
	})
}

// newSegments returns the segments of the product. The API has no route that saves one.
func newSegments(p *product.Product) *segments.Segments {
	return segments.New(segments.Config{
		Store: p.DB.Segments(), Members: p.DB.SegmentMembers(), Changes: p.DB.SegmentChanges(), Transactor: p.DB, Suppressions: p.Simulator, Orgs: p.DB.Orgs().OrgIDs,
		Clock: p.Clock.Now, Log: slog.New(slog.DiscardHandler),
	})
}

// shown is the part of an answer that a client sees, without the date.
func shown(a product.Answer) string {
	h := a.Header.Clone()
	h.Del("Date")
	return fmt.Sprint(a.Status, h, a.Body)
}

// activity is an activity as REST returns it.
type activity struct {
	Name       string          `json:"name"`
	Source     string          `json:"source"`
	OccurredAt time.Time       `json:"occurred_at"`
	ReceivedAt time.Time       `json:"received_at"`
	Properties json.RawMessage `json:"properties"`
}

// activities returns the activities of the contact, the newest first, without those of
// issuing visitor ids.
func (w *website) activities(t *testing.T) []activity {
	t.Helper()
	answer := w.p.Send(t, product.Request{URL: w.p.BaseURL + "/v1/activities?limit=100&contact=" + w.email, Bearer: w.org.Live.APIKey})
	var page struct{ Data []activity }
	if err := json.Unmarshal([]byte(answer.Body), &page); err != nil || answer.Status != http.StatusOK {
		t.Fatalf("%d %s", answer.Status, answer.Body)
	}
	var all []activity
	for _, a := range page.Data {
		if a.Name != "site_identified" {
			all = append(all, a)
		}
	}
	return all
}

// settled waits until all beacons that were sent before are written, and returns the
// activities. It sends a beacon of its own from another address, which is not among them.
func (w *website) settled(t *testing.T) []activity {
	t.Helper()
	last := fmt.Sprintf("site_end_%d", w.p.Clock.Now().UnixNano())
	from := *w
	from.address, from.visitor = "198.51.100.250", w.identify(t, w.email)
	if answer := from.send(t, from.beacon("site_visit", fields{"session_id": last, "title": last})); answer.Status != http.StatusNoContent {
		t.Fatalf("%d %s", answer.Status, answer.Body)
	}
	var all []activity
	product.Await(t, patience, func() error {
		all = nil
		found := false
		for _, a := range w.activities(t) {
			switch {
			case strings.Contains(string(a.Properties), last):
				found = true
			case strings.Contains(string(a.Properties), "site_end_"):
			default:
				all = append(all, a)
			}
		}
		if !found {
			return fmt.Errorf("the last beacon is not an activity; there are %d others", len(all))
		}
		return nil
	})
	return all
}

// counts returns the stored counts of the organization by outcome and name, once the outcome
// is among them.
func (w *website) counts(t *testing.T, outcome site.Outcome) map[string]int64 {
	t.Helper()
	counts := map[string]int64{}
	product.Await(t, patience, func() error {
		all, err := w.p.Site.Settings.Health(t.Context(), w.org.OrgID)
		if err != nil {
			return err
		}
		clear(counts)
		for _, c := range all {
			counts[strings.TrimSuffix(string(c.Outcome)+" "+c.Name, " ")] = c.Beacons
		}
		if counts[string(outcome)] == 0 {
			return fmt.Errorf("no count of %s in %v", outcome, counts)
		}
		return nil
	})
	return counts
}
