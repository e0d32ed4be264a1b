package browser

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// maxStops is the maximum number of times that a test presses the Tab key on one page.
const maxStops = 300

// describe is a script function that returns a description of an element: its kind, id,
// name, value, target and text. It returns "" for no element.
const describe = `(e => !e || e === document.body || e === document.documentElement ? "" :
	[e.tagName.toLowerCase(), e.id, e.name, e.value, e.getAttribute("href"), (e.innerText || "").trim()].filter(x => x).join(" "))`

// controls is a script with a place for a CSS selector. It returns the descriptions of the
// visible, enabled controls of the page, without radio buttons and without those in the element
// that matches the selector. If there is such an element, the next press of the Tab key leads to
// the first control after it.
const controls = `(side => {
	const all = [...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex]")]
		.filter(e => !e.disabled && e.tabIndex >= 0 && e.checkVisibility());
	if (side) all.findLast(e => side.contains(e))?.focus();
	return all.filter(e => e.type !== "radio" && !side?.contains(e)).map(` + describe + `)
})(document.querySelector(%q || "no-sidebar"))`

// sidebar matches the navigation of the dashboard, which is the same on every page. sidebarReached
// is true after a test has reached its controls with the Tab key.
const sidebar = "#side"

var sidebarReached atomic.Bool

// Press sends key presses to the focused control. keys is text, or a key constant of
// package kb.
func (tab *Tab) Press(keys string) {
	tab.t.Helper()
	tab.run("press", chromedp.KeyEvent(keys))
}

// PressToSubmit presses keys that lead to another page, and waits for that page. It
// fails the test if none loads within stepTimeout.
func (tab *Tab) PressToSubmit(keys string) {
	tab.t.Helper()
	tab.load("press", chromedp.KeyEvent(keys))
}

// Focused returns a description of the focused control: its kind, id, name, value,
// target and text. It returns "" if no control has the focus.
func (tab *Tab) Focused() string {
	tab.t.Helper()
	return evaluate[string](tab, describe+"(document.activeElement)")
}

// TabTo presses the Tab key until the description of the focused control contains the
// text. It fails the test after maxStops presses.
func (tab *Tab) TabTo(text string) {
	tab.t.Helper()
	for range maxStops {
		tab.Press(kb.Tab)
		if strings.Contains(tab.Focused(), text) {
			return
		}
	}
	tab.t.Fatalf("browser: the tabulator key does not reach %q", text)
}

// ExpectReachable checks that the Tab key reaches every control of the page. It ignores
// radio buttons, because the Tab key reaches only one button of a group. The controls of the
// dashboard's sidebar are checked on the first page that has one, and in full runs
// ([enginetest.Full]) on every page.
func (tab *Tab) ExpectReachable() {
	tab.t.Helper()
	except := ""
	if has := evaluate[bool](tab, fmt.Sprintf(`!!document.querySelector(%q)`, sidebar)); has && sidebarReached.Swap(true) && !enginetest.Full() {
		except = sidebar
	}
	missing := evaluate[[]string](tab, fmt.Sprintf(controls, except))
	if len(missing) == 0 {
		tab.t.Error("browser: there is no control on the page")
	}
	for range maxStops {
		if len(missing) == 0 {
			return
		}
		tab.Press(kb.Tab)
		focused := tab.Focused()
		missing = slices.DeleteFunc(missing, func(control string) bool { return control == focused })
	}
	tab.t.Errorf("browser: the tabulator key does not reach %q", missing)
}
