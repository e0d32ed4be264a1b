package site

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/site"
)

// TestAnswersAreEqual sends beacons that are taken and such that are refused. All answers are
// equal, and only the good beacon becomes an activity.
func TestAnswersAreEqual(t *testing.T) {
	t.Parallel()
	product.EachWith(t, options, func(t *testing.T, p *product.Product) {
		w := open(t, p, p.Org, "ada.visits@example.com")
		foreign := open(t, p, p.Other, "foreign.visits@example.com")
		revoked := w.identify(t, "revoked.visits@example.com")
		archive := p.Send(t, product.Request{Method: http.MethodDelete, URL: p.BaseURL + "/v1/contacts/revoked.visits@example.com", Bearer: p.Live.APIKey})
		if archive.Status >= http.StatusMultipleChoices {
			t.Fatalf("%d %s", archive.Status, archive.Body)
		}
		good := w.send(t, w.beacon("site_good", nil))
		if good.Status != http.StatusNoContent || good.Body != "" || good.Header.Get("Access-Control-Allow-Origin") != "*" ||
			good.Header.Get("Access-Control-Allow-Credentials") != "" || good.Header.Get("Set-Cookie") != "" {
			t.Fatalf("%d %v %q", good.Status, good.Header, good.Body)
		}
		for name, body := range map[string]string{
			"unknown key":           w.beacon("site_bad", fields{"site_key": "pk_live_" + strings.Repeat("a", 32)}),
			"no key":                `{}`,
			"unknown visitor":       w.beacon("site_bad", fields{"visitor_id": "vis_" + strings.Repeat("0", 26)}),
			"visitor of other form": w.beacon("site_bad", fields{"visitor_id": w.email}),
			"revoked visitor":       w.beacon("site_bad", fields{"visitor_id": revoked}),
			"foreign visitor":       w.beacon("site_bad", fields{"visitor_id": foreign.visitor}),
			"foreign key":           w.beacon("site_bad", fields{"site_key": foreign.key}),
			"name of other form":    w.beacon("purchase", nil),
			"name in upper case":    w.beacon("site_Bad", nil),
			"reserved name":         w.beacon("site_identified", nil),
			"long name":             w.beacon("site_"+strings.Repeat("x", 61), nil),
			"malformed":             w.beacon("site_bad", nil)[1:],
			"repeated member":       `{"name":"site_bad",` + w.beacon("site_bad", nil)[1:],
			"two values":            w.beacon("site_bad", nil) + "{}",
			"array":                 "[" + w.beacon("site_bad", nil) + "]",
			"text for properties":   w.beacon("site_bad", fields{"properties": "x"}),
			"oversize":              w.beacon("site_bad", fields{"title": strings.Repeat("x", 9<<10)}),
			"empty":                 "",
		} {
			if got := w.send(t, body); shown(got) != shown(good) {
				t.Errorf("%s: %s, want %s", name, shown(got), shown(good))
			}
		}
		if got := w.settled(t); len(got) != 1 || got[0].Name != "site_good" || got[0].Source != "site" || !got[0].OccurredAt.Equal(got[0].ReceivedAt) {
			t.Errorf("activities %+v", got)
		}
		if got := foreign.settled(t); len(got) != 0 {
			t.Errorf("activities of the other organization %+v", got)
		}
	})
}

// TestRepetitionsAndProperties sends the visit of a session and an event several times, and
// custom properties beyond the rules.
func TestRepetitionsAndProperties(t *testing.T) {
	t.Parallel()
	product.EachWith(t, options, func(t *testing.T, p *product.Product) {
		w := open(t, p, p.Org, "ada.visits@example.com")
		custom := `{"Bad":1,"list":[1],"none":null,"text":"","n":1.50,"yes":true,"path":"/no","a":"1","b":"2","c":"3","d":"4","e":"5","f":"6","g":"7","h":"8"}`
		for range 3 {
			w.send(t, w.beacon("site_visit", fields{"session_id": "s1", "path": "/a", "referrer": "", "utm_source": "mail", "other": 1}))
			w.send(t, w.beacon("site_order", fields{"event_id": "e1", "properties": json.RawMessage(custom)}))
		}
		w.send(t, w.beacon("site_visit", fields{"session_id": "s2"}))
		w.send(t, w.beacon("site_order", fields{"event_id": "s1"})) // the id of the session is another namespace
		want := []string{
			`site_order {"text":"","n":1.50,"yes":true,"a":"1","b":"2","c":"3","d":"4","e":"5","f":"6","g":"7"}`, `site_order {}`,
			`site_visit {"path":"/a","referrer":"","utm_source":"mail"}`, `site_visit {}`,
		}
		var got []string
		for _, a := range w.settled(t) {
			got = append(got, a.Name+" "+string(a.Properties))
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%q\nwant %q", got, want)
		}
	})
}

// TestLimits sends more beacons than an address and a visitor may. The beacons over the limit
// get the same answer and are not stored. A minute later there are new ones.
func TestLimits(t *testing.T) {
	t.Parallel()
	product.EachWith(t, options, func(t *testing.T, p *product.Product) {
		w := open(t, p, p.Org, "ada.visits@example.com")
		p.Clock.Freeze(p.Clock.Now())
		var first string
		send := func(name, address string, extra fields) {
			t.Helper()
			w.address = address
			got := shown(w.send(t, w.beacon(name, extra)))
			if first == "" {
				first = got
			}
			if got != first {
				t.Fatalf("%s, want %s", got, first)
			}
		}
		for i := range 70 { // from any addresses
			send("site_click", fmt.Sprintf("192.0.2.%d", i), nil)
		}
		send("site_visit", "192.0.2.1", fields{"session_id": "one"}) // visits have no such limit
		// One address may send 600 beacons, also malformed ones, and no other then.
		w.address = "2001:db8::1"
		for range 600 {
			if got := shown(w.send(t, `{}`)); got != first {
				t.Fatalf("%s, want %s", got, first)
			}
		}
		send("site_visit", "2001:db8::2", fields{"session_id": "limited"}) // the same network
		send("site_visit", "203.0.113.9, 198.51.100.7", fields{"session_id": "two"})
		if clicks, visits := countNames(w.settled(t)); clicks != 60 || visits != 2 {
			t.Errorf("%d clicks and %d visits, want 60 and 2", clicks, visits)
		}
		p.Clock.Advance(time.Minute)
		send("site_click", "2001:db8::1", nil)
		if clicks, visits := countNames(w.settled(t)); clicks != 61 || visits != 2 {
			t.Errorf("a minute later %d clicks and %d visits, want 61 and 2", clicks, visits)
		}
	})
}

func countNames(all []activity) (clicks, visits int) {
	for _, a := range all {
		switch a.Name {
		case "site_click":
			clicks++
		case "site_visit":
			visits++
		}
	}
	return clicks, visits
}

// TestRotationAndOff rotates the key, turns the site off and on, and stops the product right
// after beacons were taken.
func TestRotationAndOff(t *testing.T) {
	t.Parallel()
	product.EachWith(t, options, func(t *testing.T, p *product.Product) {
		w := open(t, p, p.Org, "ada.visits@example.com")
		_, err := newSegments(p).Save(t.Context(), p.OrgID, segments.Definition{Key: "clickers", Name: "Clickers", Source: `exists(activity.site_old where path = "/grace")`, Origin: segments.Managed})
		if err != nil {
			t.Fatal(err)
		}
		old := w.key
		rotated, err := p.Site.Settings.Rotate(t.Context(), p.OrgID)
		if err != nil || rotated.Value == old {
			t.Fatalf("%v %v", rotated, err)
		}
		p.Site.Changed(t.Context())
		w.key = rotated.Value
		w.send(t, w.beacon("site_old", fields{"site_key": old, "path": "/grace"}))
		w.send(t, w.beacon("site_new", nil))
		p.Clock.Advance(site.Grace)
		w.send(t, w.beacon("site_late", fields{"site_key": old}))
		if err := p.Site.Settings.TurnOff(t.Context(), p.OrgID); err != nil {
			t.Fatal(err)
		}
		p.Site.Changed(t.Context())
		if got := w.send(t, w.beacon("site_off", nil)); got.Status != http.StatusNotFound || got.Body != "" {
			t.Errorf("off: %d %q", got.Status, got.Body)
		}
		if got := w.send(t, w.beacon("site_off", fields{"site_key": old})); got.Status != http.StatusNoContent {
			t.Errorf("off with an expired key: %d", got.Status)
		}
		if err := p.Site.Settings.TurnOn(t.Context(), p.OrgID); err != nil {
			t.Fatal(err)
		}
		p.Site.Changed(t.Context())
		for i := range 40 {
			w.send(t, w.beacon("site_stop", fields{"event_id": fmt.Sprint(i)}))
		}
		w.send(t, w.beacon("Bad <name>", nil))
		p.Restart(t)
		names := map[string]int{}
		for _, a := range w.activities(t) { // the stop has written all of them
			names[a.Name]++
		}
		if names["site_old"] != 1 || names["site_new"] != 1 || names["site_stop"] != 40 || len(names) != 3 {
			t.Errorf("activities %v", names)
		}
		if got := w.counts(t, site.Written); got["written"] != 42 || got["bad_name Bad <name>"] != 1 {
			t.Errorf("counts %v", got)
		}
		if err := newSegments(p).Follow(t.Context(), p.OrgID); err != nil {
			t.Fatal(err)
		}
		product.Await(t, patience, func() error {
			answer := p.Send(t, product.Request{URL: p.BaseURL + "/v1/segments/clickers/members", Bearer: p.Live.APIKey})
			if !strings.Contains(answer.Body, w.email) {
				return fmt.Errorf("%d %s", answer.Status, answer.Body)
			}
			return nil
		})
	})
}

// TestOtherRequests checks the methods and paths beside beacons.
func TestOtherRequests(t *testing.T) {
	t.Parallel()
	product.OnceWith(t, options, func(t *testing.T, p *product.Product) {
		for _, test := range []struct {
			method, path, contentType string
			status                    int
		}{
			{http.MethodGet, "/s/mailhelm.js", "application/javascript", http.StatusOK},
			{http.MethodHead, "/s/mailhelm.js", "application/javascript", http.StatusOK},
			{http.MethodGet, "/s/mailhelm.d.ts", "application/typescript", http.StatusOK},
			{http.MethodPost, "/s/mailhelm.js", "", http.StatusMethodNotAllowed},
			{http.MethodGet, "/s/visit", "", http.StatusMethodNotAllowed},
			{http.MethodOptions, "/s/visit", "", http.StatusNoContent},
			{http.MethodGet, "/s/other", "", http.StatusNotFound},
		} {
			got := p.Send(t, product.Request{Method: test.method, URL: p.BaseURL + test.path})
			if got.Status != test.status || (test.contentType != "" && got.Header.Get("Content-Type") != test.contentType) {
				t.Errorf("%s %s: %d %v", test.method, test.path, got.Status, got.Header)
			}
			if strings.HasPrefix(test.path, "/s/mailhelm") && test.status == http.StatusOK &&
				(got.Header.Get("Cache-Control") != "public, max-age=3600" || got.Header.Get("Access-Control-Allow-Origin") != "*" || got.Header.Get("X-Content-Type-Options") != "nosniff") {
				t.Errorf("%s: %v", test.path, got.Header)
			}
		}
	})
}
