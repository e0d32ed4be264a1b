package browser

import (
	"context"
	"fmt"

	"github.com/chromedp/chromedp"
	"github.com/mailhelm/mailhelm/conformance/product"
)

// settleTime is the time in milliseconds after which Settle takes the page as quiet. What HTML
// does by itself, such as a refresh after no time, happens within a tenth of it.
const settleTime = 500

// Settle waits until the page, its frames and what they start by themselves are quiet. Then it
// requests an address, so that requests which the page sent before have arrived.
func (tab *Tab) Settle(address string) {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, stepTimeout)
	defer cancel()
	_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](fmt.Sprintf(`new Promise(r => setTimeout(r, %d)).then(() => fetch(%q)).then(() => true)`, settleTime, address), chromedp.EvalAwaitPromise))
	tab.must("wait for quiet", err)
}

// Title returns the title of the page.
func (tab *Tab) Title() string {
	tab.t.Helper()
	return evaluate[string](tab, "document.title")
}

// Heard returns the number of messages of other windows that a page of a test has counted in the
// variable heard.
func (tab *Tab) Heard() int {
	tab.t.Helper()
	return evaluate[int](tab, "heard")
}

// AwaitPoll waits until the script of the page has read the page again twice. It fails the test
// if the element that matches the selector was replaced, although nothing had changed.
func (tab *Tab) AwaitPoll(selector string) {
	tab.t.Helper()
	evaluate[bool](tab, fmt.Sprintf(`(() => { window.before = document.querySelector(%q); performance.clearResourceTimings(); return true })()`, selector))
	product.Await(tab.t, stepTimeout, func() error {
		if n := evaluate[int](tab, `performance.getEntriesByType("resource").length`); n < 2 {
			return fmt.Errorf("the page was read %d times", n)
		}
		return nil
	})
	if !evaluate[bool](tab, fmt.Sprintf(`window.before === document.querySelector(%q)`, selector)) {
		tab.t.Errorf("browser: %s was replaced without a change", selector)
	}
}
