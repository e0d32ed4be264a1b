package browser_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/browser"
)

// TestFaultsAreNoticed checks that Tab.Faults returns each error of a page: violations of
// the content security policy, missing files, and errors of scripts.
func TestFaultsAreNoticed(t *testing.T) {
	t.Parallel()
	pages := map[string]string{
		"/style":   `<style>p{color:red}</style>`,
		"/script":  `<script>document.title = "x"</script>`,
		"/missing": `<link rel="stylesheet" href="/missing.css">`,
		"/thrown":  `<script src="/thrown.js"></script>`,
		"/console": `<script src="/console.js"></script>`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; img-src data:")
		switch r.URL.Path {
		case "/thrown.js", "/console.js":
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, map[string]string{"/thrown.js": `throw new Error("x")`, "/console.js": `console.error("x")`}[r.URL.Path])
		case "/missing.css":
			w.WriteHeader(http.StatusNotFound)
		default:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<!doctype html><html lang="en"><title>x</title><link rel="icon" href="data:,"><p>x</p>`+pages[r.URL.Path])
		}
	}))
	t.Cleanup(server.Close)
	tab := browser.Open(t, browser.Options{})
	tab.Go(server.URL + "/clean")
	if faults := tab.Faults(); len(faults) != 0 {
		t.Errorf("a page without fault: %q", faults)
	}
	for path := range pages {
		tab.Go(server.URL + path)
		if faults := tab.Faults(); len(faults) == 0 {
			t.Errorf("%s: nothing was noticed", path)
		}
	}
	quiet := browser.Open(t, browser.Options{NoScript: true})
	quiet.Go(server.URL + "/thrown")
	if faults := quiet.Faults(); len(faults) != 0 {
		t.Errorf("a script has run: %q", faults)
	}
}

// TestNothingButTheLoopback checks that the browser resolves no host name of another
// machine.
func TestNothingButTheLoopback(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><html lang="en"><title>x</title><link rel="icon" href="data:,"><img alt="" src="http://mailhelm.example/x.png"><p>x</p>`)
	}))
	t.Cleanup(server.Close)
	tab := browser.Open(t, browser.Options{})
	tab.Go(server.URL)
	if faults := strings.Join(tab.Faults(), "\n"); !strings.Contains(faults, "ERR_NAME_NOT_RESOLVED") {
		t.Errorf("the browser looks names up: %q", faults)
	}
}
