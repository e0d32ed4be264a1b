package browser

import (
	"context"
	"fmt"

	"github.com/chromedp/chromedp"
)

// Link is a link on a page.
type Link struct {
	// Address is the absolute address.
	Address string `json:"address"`
	// Download is true if the browser stores the answer as a file.
	Download bool `json:"download"`
}

// Links returns the links of the page, folded ones included, in page order.
func (tab *Tab) Links() []Link {
	tab.t.Helper()
	return evaluate[[]Link](tab, `[...document.querySelectorAll("a[href]")].map(a => ({address: new URL(a.getAttribute("href"), location.href).href, download: a.hasAttribute("download")}))`)
}

// Fetch requests a path of the page's host with the cookies of the tab, and returns the
// status of the answer.
func (tab *Tab) Fetch(path string) int64 {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, stepTimeout)
	defer cancel()
	status, err := chromedp.Run(ctx, chromedp.Evaluate[int64](fmt.Sprintf(`fetch(%q).then(r => r.status)`, path), chromedp.EvalAwaitPromise))
	tab.must("fetch "+path, err)
	return status
}
