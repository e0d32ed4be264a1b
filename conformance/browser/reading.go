package browser

import (
	"context"
	"fmt"
	"strings"

	"github.com/chromedp/chromedp"
	"github.com/mailhelm/mailhelm/conformance/product"
)

// Read returns the text of the first element that matches a selector. It fails the test if
// no element matches.
func (tab *Tab) Read(selector string) string {
	tab.t.Helper()
	all := tab.ReadAll(selector)
	if len(all) == 0 {
		tab.t.Fatalf("browser: there is no %s on the page: %s", selector, tab.Text())
	}
	return all[0]
}

// ReadAll returns the text of every element that matches a selector, hidden elements
// included, in page order. Without a match it returns an empty list.
func (tab *Tab) ReadAll(selector string) []string {
	tab.t.Helper()
	return evaluate[[]string](tab, fmt.Sprintf(`[...document.querySelectorAll(%q)].map(e => e.textContent.trim())`, selector))
}

// Unfold opens the details element that contains the element matching a selector. It does
// nothing if no details element contains it, or if the details element is open already.
func (tab *Tab) Unfold(selector string) {
	tab.t.Helper()
	if evaluate[bool](tab, fmt.Sprintf(`(e => !!e && !!e.closest("details:not([open])"))(document.querySelector(%q))`, selector)) {
		tab.Mark("details:not([open]):has(" + selector + ") > summary")
	}
}

// Await waits until an element that a script creates is visible. It fails the test after
// stepTimeout.
func (tab *Tab) Await(selector string) {
	tab.t.Helper()
	tab.run("wait for "+selector, chromedp.WaitVisible(chromedp.CSS(selector)))
}

// AwaitText waits until the first element that matches a selector has a text, which a script
// writes. It ends the test after stepTimeout.
func (tab *Tab) AwaitText(selector, text string) {
	tab.t.Helper()
	product.Await(tab.t, stepTimeout, func() error {
		if shown := tab.Read(selector); !strings.Contains(shown, text) {
			return fmt.Errorf("%s lacks %q: %q", selector, text, shown)
		}
		return nil
	})
}

// ReloadUntil loads the page again until it shows a text. It ends the test after
// stepTimeout.
func (tab *Tab) ReloadUntil(text string) {
	tab.t.Helper()
	product.Await(tab.t, stepTimeout, func() error {
		shown := tab.Text()
		if strings.Contains(shown, text) {
			return nil
		}
		tab.Go(tab.Address().String())
		return fmt.Errorf("the page does not show %q: %s", text, shown)
	})
}

// Bottom returns the distance from the top of the page to the bottom edge of the first
// matching element, in CSS pixels.
func (tab *Tab) Bottom(selector string) float64 {
	tab.t.Helper()
	return evaluate[float64](tab, fmt.Sprintf(`document.querySelector(%q).getBoundingClientRect().bottom + scrollY`, selector))
}

// Width returns the width of the first matching element, in CSS pixels.
func (tab *Tab) Width(selector string) float64 {
	tab.t.Helper()
	return evaluate[float64](tab, fmt.Sprintf(`document.querySelector(%q).getBoundingClientRect().width`, selector))
}

// SelectedLine returns the number of the line in a field in which its selection begins, from
// 1.
func (tab *Tab) SelectedLine(selector string) int {
	tab.t.Helper()
	return evaluate[int](tab, fmt.Sprintf(`(() => {
		const field = document.querySelector(%q);
		return field.value.slice(0, field.selectionStart).split("\n").length;
	})()`, selector))
}

// Download returns the file to which a link or the button of a form leads, read with the cookies
// of the page. It fails the test if neither matches the selector, or the answer has another status
// than 200.
func (tab *Tab) Download(selector string) string {
	tab.t.Helper()
	const fetch = `(async () => {
		const from = document.querySelector(%q), form = from.form;
		const answer = await (form ? fetch(form.action, {method: form.method, body: new URLSearchParams(new FormData(form, from))}) : fetch(from.href));
		if (answer.status !== 200) throw new Error("status " + answer.status);
		return answer.text();
	})()`
	ctx, cancel := context.WithTimeout(tab.ctx, stepTimeout)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](fmt.Sprintf(fetch, selector), chromedp.EvalAwaitPromise))
	tab.must("download "+selector, err)
	return text
}
