package browser

import (
	"context"
	"fmt"
	"strings"

	"github.com/chromedp/chromedp"
	"github.com/mailhelm/mailhelm/conformance/browser/axe"
)

// rules are the rules of axe-core that Accessible checks: WCAG 2.2 at the levels A and AA,
// and the checker's own recommendations.
const rules = `["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]`

// Violation is a rule that a page breaks, with the elements that break it.
type Violation struct {
	ID    string   `json:"id"`
	Help  string   `json:"help"`
	Nodes []string `json:"nodes"`
}

// shorten removes rows of tables and items of lists after the eighth, because they differ only
// in their texts and axe-core needs most of its time for their contrasts. An item stays if its
// element or class is another one than that of the item before.
const shorten = `document.querySelectorAll("tbody, ul, ol, dl").forEach(list => [...list.children].slice(8).forEach(e => {
	const before = e.previousElementSibling;
	if (e.tagName === before.tagName && e.className === before.className) e.remove();
}))`

// Accessible checks the page with axe-core: every rule in the light colours, and the
// contrast in the dark colours too. It leaves out the elements that match the CSS selector
// except, if that is not "", and removes rows of long tables and items of long lists from the page. It fails the
// test for each violation and returns their number. Scripts of the tab must be enabled.
func (tab *Tab) Accessible(except string) int {
	tab.t.Helper()
	tab.evaluateScript(axe.Script(tab.t))
	tab.evaluateScript(shorten)
	found := 0
	for _, scheme := range []string{"light", "dark"} {
		tab.resize(desktop, scheme)
		options := `{runOnly: ` + rules + `}`
		if scheme == "dark" {
			options = `{runOnly: {type: "rule", values: ["color-contrast"]}}`
		}
		for _, v := range tab.violations(except, options) {
			found++
			tab.t.Errorf("browser: %s, %s: %s (%s)\n\t%s", tab.Address(), scheme, v.Help, v.ID, strings.Join(v.Nodes, "\n\t"))
		}
	}
	tab.resize(desktop, "light")
	return found
}

// violations runs axe-core with options and returns what it finds outside the elements that
// match except, and outside of frames, which show HTML of other people. Of each rule it
// returns at most five elements.
func (tab *Tab) violations(except, options string) []Violation {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, stepTimeout)
	defer cancel()
	// Only rules that are not checked here need the style sheets that axe-core would parse.
	const preload = `{assets: ["media"]}`
	found, err := chromedp.Run(ctx, chromedp.Evaluate[[]Violation](fmt.Sprintf(`axe.run({exclude: [%q].filter(Boolean)}, {iframes: false, resultTypes: ["violations"], preload: `+preload+`, ...%s}).then(r => r.violations.map(v => ({
		id: v.id, help: v.help, nodes: v.nodes.slice(0, 5).map(n => n.html.slice(0, 200) + " " + n.failureSummary.replace(/\s+/g, " "))
	})))`, except, options), chromedp.EvalAwaitPromise))
	tab.must("check accessibility", err)
	return found
}

// evaluateScript runs a script in the page. The debugger may do so against the content
// security policy of the page.
func (tab *Tab) evaluateScript(script string) {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, stepTimeout)
	defer cancel()
	tab.must("run script", chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void](script+"; undefined")))
}
