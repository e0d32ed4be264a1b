package browser_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/browser"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/rest/beacon/script"
)

// Values of the websites that the tests visit.
const (
	siteKey      = "pk_live_0123456789abcdefghijklmnopqrstuv"
	visitorID    = "vis_0123456789abcdefghjkmnpqrs"
	otherVisitor = "vis_zzzzzzzzzzzzzzzzzzzzzzzzzz"
)

// beacon is the body of a beacon as the script sends it.
type beacon struct {
	SiteKey     string         `json:"site_key"`
	VisitorID   string         `json:"visitor_id"`
	SessionID   string         `json:"session_id"`
	EventID     string         `json:"event_id"`
	Name        string         `json:"name"`
	Properties  map[string]any `json:"properties"`
	Path        string         `json:"path"`
	Referrer    string         `json:"referrer,omitempty"`
	Title       string         `json:"title,omitempty"`
	UTMSource   string         `json:"utm_source,omitempty"`
	UTMMedium   string         `json:"utm_medium,omitempty"`
	UTMCampaign string         `json:"utm_campaign,omitempty"`
}

// website is a web server on the loopback whose pages use the script, and an API server of
// another origin that serves the script and takes beacons. It reports beacons whose form is
// wrong, whatever their values are.
type website struct {
	t   *testing.T
	tab *browser.Tab
	// url and api are the origins of the two servers.
	url, api string
	// policy is the content security policy of the pages; API in it stands for the origin of
	// the API.
	policy string
	// cookie is the Set-Cookie header of the pages; "" means none.
	cookie string
	// pages has the bodies of the pages by path. {{tag}} stands for the tag of customers,
	// {{api}} for the origin of the API.
	pages map[string]string

	mu      sync.Mutex
	beacons []beacon
	// expected is the number of beacons that the last call of expect has named.
	expected int
	// loads counts requests for the script.
	loads int
}

// visitorCookie returns the header by which the guide tells servers to set the cookie, without
// a domain, because the test's host is localhost.
func visitorCookie(id string) string {
	return "so_vid=" + id + "; Max-Age=34560000; Path=/; Secure; SameSite=Lax"
}

// helpers are functions for the scripts of the pages. loaded waits for the script. end shows
// a text in the page, after requests that were sent before have arrived.
const helpers = `
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
async function loaded() { while (!window.mailhelm || !mailhelm.loaded) await sleep(5); }
async function end(text) {
  await sleep(30);
  await fetch("{{api}}/end", { mode: "no-cors" });
  document.querySelector("#result").textContent = "end: [" + text + "]";
}
function stored() {
  return Object.keys(sessionStorage) + "|" + Object.keys(localStorage) + "|" + document.cookie.split("; ").map((c) => c.split("=")[0]);
}`

// newWebsite starts the servers and opens a tab. The site has the page "/" with the given body.
func newWebsite(t *testing.T, body string) *website {
	t.Helper()
	w := &website{t: t, cookie: visitorCookie(visitorID), pages: map[string]string{"/": body}}
	api := httptest.NewServer(http.HandlerFunc(w.serveAPI))
	t.Cleanup(api.Close)
	site := httptest.NewServer(http.HandlerFunc(w.serveSite))
	t.Cleanup(site.Close)
	w.api, w.url = api.URL, strings.Replace(site.URL, "127.0.0.1", "localhost", 1)
	t.Cleanup(func() {
		if late := len(w.names()) - w.expected; late > 0 {
			t.Errorf("%d beacons arrived after the test had compared them", late)
		}
	})
	w.tab = browser.Open(t, browser.Options{})
	return w
}

// fill inserts the tag, the address of the API and the ids into a page, a script or a policy.
func (w *website) fill(text string) string {
	tag := script.Tag(w.api, siteKey)
	return strings.NewReplacer("{{tag}}", tag, "{{tag.js}}", tagFile(tag), "{{api}}", w.api, "{{key}}", siteKey, "{{visitor}}", visitorID).Replace(text)
}

// tagFile returns the JavaScript of a tag.
func tagFile(tag string) string {
	return strings.TrimSuffix(strings.TrimPrefix(tag, "<script>\n"), "</script>\n")
}

func (w *website) serveSite(rw http.ResponseWriter, r *http.Request) {
	body, found := w.pages[r.URL.Path]
	if !found && r.URL.Path != "/helpers.js" {
		http.NotFound(rw, r)
		return
	}
	if strings.HasSuffix(r.URL.Path, ".js") {
		rw.Header().Set("Content-Type", "application/javascript")
		if !found {
			body = helpers
		}
		fmt.Fprint(rw, w.fill(body))
		return
	}
	rw.Header().Set("Content-Type", "text/html; charset=utf-8")
	if w.cookie != "" {
		rw.Header().Set("Set-Cookie", w.cookie)
	}
	if w.policy != "" {
		rw.Header().Set("Content-Security-Policy", w.fill(w.policy))
	}
	fmt.Fprint(rw, w.fill(`<!doctype html><html lang="en"><head><title>Shop</title><link rel="icon" href="data:,">`+
		`<script src="/helpers.js"></script></head><body><p id="result">-</p>`+body))
}

func (w *website) serveAPI(rw http.ResponseWriter, r *http.Request) {
	rw.Header().Set("Access-Control-Allow-Origin", "*")
	switch r.Method + " " + r.URL.Path {
	case "GET " + script.JavaScriptPath:
		w.mu.Lock()
		w.loads++
		w.mu.Unlock()
		rw.Header().Set("Content-Type", "application/javascript")
		_, _ = rw.Write(script.JavaScript()) // a tab that has closed needs no script
	case "GET /end":
	case "POST /s/visit":
		w.take(r)
		rw.WriteHeader(http.StatusNoContent)
	default:
		w.t.Errorf("the script sends %s %s", r.Method, r.URL.Path)
	}
}

// take stores a beacon. It reports one that has a wrong form or size, half of a surrogate pair,
// which is no valid JSON text by RFC 7493, or a cookie.
func (w *website) take(r *http.Request) {
	var b beacon
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.t.Error(err)
	}
	reader := json.NewDecoder(strings.NewReader(string(body)))
	reader.DisallowUnknownFields()
	if err := reader.Decode(&b); err != nil || len(body) > 8192 || strings.Contains(string(body), `\ud`) {
		w.t.Errorf("a beacon of %d bytes: %v\n%s", len(body), err, body)
	}
	if kind := r.Header.Get("Content-Type"); kind != "text/plain;charset=UTF-8" || r.Header.Get("Cookie") != "" {
		w.t.Errorf("a beacon has the content type %q and the cookies %q", kind, r.Header.Get("Cookie"))
	}
	if len(b.EventID) != 32 || len(b.SessionID) != 32 || b.SiteKey != siteKey || b.Properties == nil {
		w.t.Errorf("a beacon lacks ids: %+v", b)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.beacons = append(w.beacons, b)
}

// open opens a path and waits until the page has called end.
func (w *website) open(path string) {
	w.t.Helper()
	w.tab.Go(w.url + path)
	w.tab.AwaitText("#result", "end: [")
}

// expect waits for beacons with these names, in any order, and returns all that have arrived.
// More beacons, an event id that is there twice, and a result that differs fail the test.
func (w *website) expect(result string, names ...string) []beacon {
	w.t.Helper()
	if got := w.tab.Read("#result"); got != "end: ["+result+"]" {
		w.t.Errorf("the page has the result %q, want %q", got, result)
	}
	names = slices.Sorted(slices.Values(names))
	var got []string
	product.Await(w.t, 20*time.Second, func() error {
		got = w.names()
		if len(got) < len(names) {
			return fmt.Errorf("the beacons %q have arrived, want %q", got, names)
		}
		return nil
	})
	if got = w.names(); !slices.Equal(got, names) {
		w.t.Errorf("the beacons %q have arrived, want %q", got, names)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.expected = len(w.beacons)
	ids := map[string]bool{}
	for _, b := range w.beacons {
		if ids[b.EventID] {
			w.t.Errorf("two events have the id %s", b.EventID)
		}
		ids[b.EventID] = true
	}
	return slices.Clone(w.beacons)
}

// names returns the sorted names of the beacons that have arrived.
func (w *website) names() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var names []string
	for _, b := range w.beacons {
		names = append(names, b.Name)
	}
	slices.Sort(names)
	return names
}

// named returns the first beacon with a name.
func named(t *testing.T, beacons []beacon, name string) beacon {
	t.Helper()
	i := slices.IndexFunc(beacons, func(b beacon) bool { return b.Name == name })
	if i < 0 {
		t.Fatalf("there is no beacon %s", name)
	}
	return beacons[i]
}
