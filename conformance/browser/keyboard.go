package browser

import (
	"slices"
	"strings"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// maxStops bounds how often the tabulator key is pressed on one page.
const maxStops = 300

// describe is a script that names the control that has the focus, "" for none.
const describe = `(e => !e || e === document.body || e === document.documentElement ? "" :
	[e.tagName.toLowerCase(), e.id, e.name, e.value, e.getAttribute("href"), (e.innerText || "").trim()].filter(x => x).join(" "))`

// controls is a script that names everything on the page that can be operated.
const controls = `[...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex]")]
	.filter(e => !e.disabled && e.tabIndex >= 0 && e.type !== "radio" && e.checkVisibility()).map(` + describe + `)`

// Press presses keys where the focus is: text, or what package kb names.
func (tab *Tab) Press(keys string) {
	tab.t.Helper()
	tab.run("press", chromedp.KeyEvent(keys))
}

// PressToSubmit is Press for keys that lead to another page, and waits for it.
func (tab *Tab) PressToSubmit(keys string) {
	tab.t.Helper()
	tab.load("press", chromedp.KeyEvent(keys))
}

// Focused describes the control that has the focus: its kind, id, name, value,
// target and text. It is "" when none has.
func (tab *Tab) Focused() string {
	tab.t.Helper()
	return evaluate[string](tab, describe+"(document.activeElement)")
}

// TabTo presses the tabulator key until a control has the focus whose description
// holds the text.
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

// ExpectReachable checks that the tabulator key, pressed again and again, reaches
// every control of the page. Of radio buttons, of which it reaches one, none
// counts.
func (tab *Tab) ExpectReachable() {
	tab.t.Helper()
	missing := evaluate[[]string](tab, controls)
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
