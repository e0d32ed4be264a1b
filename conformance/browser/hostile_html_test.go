package browser_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/browser"
	"github.com/mailhelm/mailhelm/core/inbound/inboundtest"
	"github.com/mailhelm/mailhelm/core/inbound/safehtml"
	"github.com/mailhelm/mailhelm/core/mailhtml"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// target is a web server on the loopback that counts the requests of hostile HTML.
type target struct {
	server *httptest.Server
	mu     sync.Mutex
	hits   map[string]int // by the name of the sample, which is the query
}

func newTarget(t *testing.T) *target {
	t.Helper()
	h := &target{hits: map[string]int{}}
	h.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.hits[r.URL.RawQuery]++
		w.Header().Set("Access-Control-Allow-Origin", "*")
	}))
	t.Cleanup(h.server.Close)
	return h
}

// names returns the samples that sent a request, in order.
func (h *target) names() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var names []string
	for name := range h.hits {
		if name != "end" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// protection is a way to show the HTML of a sample in a frame.
type protection struct {
	// policy is the content security policy of the page with the frames.
	policy string
	write  func(w http.ResponseWriter, html string)
	// left leaves samples out.
	left func(name string) bool
}

// plainPage writes HTML without any policy.
func plainPage(w http.ResponseWriter, html string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprint(w, html)
}

// framesOnPage is the number of samples that a page shows. A slow machine needs more than the time of
// a step to load all of them on one page.
const framesOnPage = 40

// protections are the ways of the product, each alone, and none.
var protections = map[string]protection{
	"none":   {write: plainPage, left: func(name string) bool { return strings.HasPrefix(name, "leaving-") || strings.HasSuffix(name, "-top") }},
	"policy": {policy: "frame-src 'self'", write: frame.WriteMail, left: func(string) bool { return false }},
	"cleaned": {
		write: func(w http.ResponseWriter, html string) {
			if inlined, err := mailhtml.Inline(html); err == nil {
				html = inlined
			}
			plainPage(w, safehtml.Clean(html, nil))
		},
		left: func(string) bool { return false },
	},
}

// serveFrames serves a page with a frame for each sample, without the attribute "sandbox".
func serveFrames(t *testing.T, samples []inboundtest.Active, p protection) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/frame/"))
		switch {
		case r.URL.Path == "/":
			if p.policy != "" {
				w.Header().Set("Content-Security-Policy", p.policy)
			}
			var b strings.Builder
			b.WriteString(`<!doctype html><html lang="en"><title>Mail</title><link rel="icon" href="data:,"><script>var heard = 0; addEventListener("message", () => heard++)</script>`)
			for i := range samples {
				fmt.Fprintf(&b, `<iframe id="f%d" src="/frame/%d" width="240" height="80"></iframe>`, i, i)
			}
			plainPage(w, b.String())
		case err == nil && i >= 0 && i < len(samples):
			p.write(w, samples[i].HTML)
		default:
			plainPage(w, "")
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// needsClick reports whether a sample is active only after a click.
func needsClick(name string) bool {
	return strings.HasPrefix(name, "address-") || strings.HasPrefix(name, "leaving-") || slices.Contains([]string{
		"handler-click", "handler-html", "handler-custom-element", "foreign-math-link", "foreign-svg-set", "foreign-math-href", "style-hover", "handler-toggle-popover",
	}, name)
}

// TestHostileHTML shows HTML that tries to become active in frames: with the content security
// policy of the product alone, with the cleaned HTML alone, and without protection, which shows
// that the samples work. With either protection, no sample may send a request, reach the page
// around the frame, or lead the window to another page.
func TestHostileHTML(t *testing.T) {
	t.Parallel()
	for name, p := range protections {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newTarget(t)
			samples := slices.DeleteFunc(inboundtest.ActiveHTML(h.server.URL+"/hit"), func(s inboundtest.Active) bool { return p.left(s.Name) })
			var reached []string
			for part := range slices.Chunk(samples, framesOnPage) {
				if fault := showFrames(t, h, part, p); fault != "" {
					reached = append(reached, fault)
				}
			}
			hits := h.names()
			if name == "none" {
				if len(hits) < len(samples)/2 || len(reached) == 0 {
					t.Errorf("only %d of %d samples work without protection: %q", len(hits), len(samples), hits)
				}
				return
			}
			if len(hits) != 0 || len(reached) != 0 {
				t.Errorf("requests of %q; pages that were reached: %q", hits, reached)
			}
		})
	}
}

// showFrames opens a page with a frame for each sample, clicks the samples that need it, and waits
// until the page is quiet. It returns how samples reached the page around their frames, "" if they
// did not.
func showFrames(t *testing.T, h *target, samples []inboundtest.Active, p protection) string {
	t.Helper()
	page, tab := serveFrames(t, samples, p), browser.Open(t, browser.Options{})
	tab.Go(page.URL + "/")
	for i, s := range samples {
		if needsClick(s.Name) {
			tab.Mark(fmt.Sprintf("#f%d", i))
		}
	}
	tab.Settle(h.server.URL + "/hit?end")
	tab.Faults() // the browser reports what the policy blocks
	if address, title, heard := tab.Address().String(), tab.Title(), tab.Heard(); address != page.URL+"/" || title != "Mail" || heard != 0 {
		return fmt.Sprintf("%s, with the title %q and %d messages", address, title, heard)
	}
	return ""
}
