package browser

import (
	"fmt"

	"github.com/chromedp/chromedp"
)

// Read is the text of the first thing that a selector finds.
func (tab *Tab) Read(selector string) string {
	tab.t.Helper()
	all := tab.ReadAll(selector)
	if len(all) == 0 {
		tab.t.Fatalf("browser: there is no %s on the page: %s", selector, tab.Text())
	}
	return all[0]
}

// ReadAll is the text of everything that a selector finds, in the page's order.
func (tab *Tab) ReadAll(selector string) []string {
	tab.t.Helper()
	return evaluate[[]string](tab, fmt.Sprintf(`[...document.querySelectorAll(%q)].map(e => e.textContent.trim())`, selector))
}

// Unfold opens the folded part of the page that holds what a selector finds,
// unless it is open.
func (tab *Tab) Unfold(selector string) {
	tab.t.Helper()
	if evaluate[bool](tab, fmt.Sprintf(`(e => !!e && !!e.closest("details:not([open])"))(document.querySelector(%q))`, selector)) {
		tab.Mark("details:not([open]):has(" + selector + ") > summary")
	}
}

// Await waits until something is to be seen that a script brings about.
func (tab *Tab) Await(selector string) {
	tab.t.Helper()
	tab.run("wait for "+selector, chromedp.WaitVisible(chromedp.CSS(selector)))
}

// Bottom is how far below the top of the page the first thing ends that a selector
// finds, in CSS pixels.
func (tab *Tab) Bottom(selector string) float64 {
	tab.t.Helper()
	return evaluate[float64](tab, fmt.Sprintf(`document.querySelector(%q).getBoundingClientRect().bottom + scrollY`, selector))
}
