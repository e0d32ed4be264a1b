package browser

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/mailhelm/mailhelm/conformance/product"
)

// stepTimeout bounds one step of a test, so that a page that never loads fails the test.
const stepTimeout = 30 * time.Second

// Options configures a tab. The zero value gives a tab of desktop size with scripts
// enabled.
type Options struct {
	// NoScript disables the scripts of pages.
	NoScript bool
}

// Tab is a browser tab with its own cookies. Its methods fail the test if a step does
// not succeed.
type Tab struct {
	// t is the test that opened the tab.
	t *testing.T
	// ctx is the chromedp context of the tab; the end of the test cancels it.
	ctx context.Context

	// mu guards faults, because chromedp calls listen in another goroutine.
	mu sync.Mutex
	// faults are the collected errors that Faults has not returned yet.
	faults []string
	// status is the HTTP status of the last loaded page; 0 if it had no response.
	status int64
	// size and scheme are the size and the colour scheme of the window; zero before the first
	// resize.
	size   screen
	scheme string
}

// Open opens a tab that closes with the test. The test then fails if pages in the tab
// caused errors that Faults did not return.
func Open(t *testing.T, opts Options) *Tab {
	t.Helper()
	b := sharedBrowser(t)
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	tab := &Tab{t: t, ctx: ctx}
	t.Cleanup(func() {
		cancel()
		for _, fault := range tab.Faults() {
			t.Errorf("the browser complains: %s", fault)
		}
	})
	tab.must("open", chromedp.Do(ctx))
	tab.must("listen", chromedp.Listen(ctx, tab.listen))
	_, err := chromedp.Call(ctx, log.Enable, struct{}{})
	tab.must("listen", err)
	_, err = chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: opts.NoScript})
	tab.must("scripts", err)
	// The browser gives the focus to only one window. Focus emulation makes each tab behave
	// as if its window had the focus.
	_, err = chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	tab.must("focus", err)
	tab.resize(desktop, "light")
	return tab
}

// listen collects the errors that the browser reports. It ignores a page's own 4xx status,
// but collects failed requests for scripts, styles and images. It runs in the loop that
// reads the tab's messages, so it must not run a browser command.
func (tab *Tab) listen(event any) {
	switch e := event.(type) {
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError && !strings.Contains(e.Entry.Text, "status of 4") || e.Entry.Source == log.EntrySourceSecurity {
			tab.fault(fmt.Sprintf("%s: %s", e.Entry.Source, e.Entry.Text))
		}
	case *network.EventResponseReceived:
		if e.Type != network.ResourceTypeDocument && e.Response.Status >= http.StatusBadRequest {
			tab.fault(fmt.Sprintf("%s answers %d", e.Response.URL, e.Response.Status))
		}
	case *runtime.EventExceptionThrown:
		tab.fault(e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "assert" {
			tab.fault("a script wrote an error to the console")
		}
	}
}

// fault adds an error to the list that Faults returns. Any goroutine may call it.
func (tab *Tab) fault(text string) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	tab.faults = append(tab.faults, text)
}

// Faults returns the errors that the browser has reported since the last call.
func (tab *Tab) Faults() []string {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	taken := tab.faults
	tab.faults = nil
	return taken
}

// must fails the test at once if err is not nil. step is the name of the failed step.
func (tab *Tab) must(step string, err error) {
	tab.t.Helper()
	if err != nil {
		tab.t.Fatalf("browser: %s: %v", step, err)
	}
}

// run performs browser steps. It fails the test if they take longer than stepTimeout.
func (tab *Tab) run(name string, steps ...chromedp.Action[chromedp.Void]) {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, stepTimeout)
	defer cancel()
	tab.must(name, chromedp.Do(ctx, steps...))
}

// load performs steps that lead to another page, waits for that page, and stores its HTTP
// status for Expect.
func (tab *Tab) load(name string, steps ...chromedp.Action[chromedp.Void]) {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, stepTimeout)
	defer cancel()
	response, err := chromedp.RunResponse(ctx, steps...)
	tab.must(name, err)
	tab.status = 0
	if response != nil {
		tab.status = response.Status
	}
	// The browser sets the focus at the first paint of the page, which can come after the
	// load.
	if evaluate[bool](tab, `!!document.querySelector("[autofocus]")`) {
		tab.Await(":focus")
	}
}

// Go opens an address and waits until the page has loaded.
func (tab *Tab) Go(address string) {
	tab.t.Helper()
	tab.load("open "+address, chromedp.Navigate(address))
}

// Fill replaces the content of a field with text, like a paste. It fails the test if no
// element matches the selector.
func (tab *Tab) Fill(selector, text string) {
	tab.t.Helper()
	if !evaluate[bool](tab, fmt.Sprintf(`(e => { if (e) { e.focus(); e.select(); } return !!e })(document.querySelector(%q))`, selector)) {
		tab.t.Fatalf("browser: there is no field %s", selector)
	}
	_, err := chromedp.Call(tab.ctx, input.InsertText, input.InsertTextParams{Text: text})
	tab.must("fill "+selector, err)
}

// ChooseFile selects a file of this machine in a file field.
func (tab *Tab) ChooseFile(selector, file string) {
	tab.t.Helper()
	tab.run("choose file in "+selector, chromedp.SetUploadFiles(chromedp.CSS(selector), []string{file}))
}

// Mark clicks an element that does not lead to another page, such as a checkbox.
func (tab *Tab) Mark(selector string) {
	tab.t.Helper()
	tab.run("mark "+selector, chromedp.Click(chromedp.CSS(selector)))
}

// Choose selects the option of a select element that has this value.
func (tab *Tab) Choose(selector, value string) {
	tab.t.Helper()
	tab.run("choose in "+selector, chromedp.SetValue(chromedp.CSS(selector), value))
}

// ChooseText selects the first option of a select element whose text contains a text, as a
// person does: scripts of the page see the change. It fails the test if there is none.
func (tab *Tab) ChooseText(selector, text string) {
	tab.t.Helper()
	const choose = `((e, text) => {
		const option = e && [...e.options].find((o) => o.textContent.includes(text));
		if (!option) return false;
		e.value = option.value;
		e.dispatchEvent(new Event("change", { bubbles: true }));
		return true;
	})(document.querySelector(%q), %q)`
	if !evaluate[bool](tab, fmt.Sprintf(choose, selector, text)) {
		tab.t.Fatalf("browser: %s has no option %q", selector, text)
	}
}

// Submit clicks an element that leads to another page, and waits for that page.
func (tab *Tab) Submit(selector string) {
	tab.t.Helper()
	tab.load("submit "+selector, chromedp.Click(chromedp.CSS(selector)))
}

// Expect checks the HTTP status of the page and that each text is visible on it. It reports
// every difference and lets the test continue.
func (tab *Tab) Expect(status int64, texts ...string) {
	tab.t.Helper()
	shown := tab.Text()
	if tab.status != status {
		tab.t.Errorf("browser: status %d, want %d: %s", tab.status, status, shown)
	}
	for _, text := range texts {
		if !strings.Contains(shown, text) {
			tab.t.Errorf("browser: %q is not to be read on the page: %s", text, shown)
		}
	}
}

// Text returns the visible text of the page. It waits for a page that has begun to load and has no
// body yet, and fails the test after stepTimeout.
func (tab *Tab) Text() string {
	tab.t.Helper()
	var found string // begins with a point, and is empty without a body
	product.Await(tab.t, stepTimeout, func() error {
		if found = evaluate[string](tab, `document.body ? "." + document.body.innerText : ""`); found == "" {
			return errors.New("the page has no body")
		}
		return nil
	})
	return found[1:]
}

// Address returns the address of the page.
func (tab *Tab) Address() *url.URL {
	tab.t.Helper()
	u, err := url.Parse(evaluate[string](tab, "location.href"))
	tab.must("address", err)
	return u
}

// evaluate returns the value of a JavaScript expression in the page. It uses the debugger,
// which works even if scripts of pages are disabled.
func evaluate[T any](tab *Tab, expression string) T {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, stepTimeout)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	tab.must("ask the page", err)
	return value
}
