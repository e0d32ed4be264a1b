package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// errNoChromium is the error of the function start if PATH has no Chromium. Any other error
// of start fails the test instead of skipping it.
var errNoChromium = errors.New("chromium is not on this machine: no page can be opened")

// startTimeout bounds the start of the browser. It is long, because other tests compile at
// the same time.
const startTimeout = 60 * time.Second

// unusedFeatures are features of Chromium that cost processor time and that no test uses.
// Every new window loads the popup pages of the address bar, which take three times as much
// time as the tab of a test. The constant replaces the list in chromedp's default options,
// which consists of the first two names.
const unusedFeatures = "Translate,BlinkGenPropertyTrees,WebUIOmniboxPopup,WebUIOmniboxAimPopup," +
	"WebUIOmniboxFullPopup,SpareRendererForSitePerProcess,BackForwardCache"

// testsAtOnce is the number of tests that run at the same time. Each waits for the browser or for
// its product most of the time.
const testsAtOnce = 4

// chromium is the running browser that all tests of a package share.
type chromium struct {
	// ctx is the chromedp context of the browser. Contexts of tabs derive from it.
	ctx context.Context
	// stop has a function for each resource of the browser, which releases it. The functions
	// are in the order in which the resources were opened.
	stop []func()
}

var (
	// startOnce starts the browser at the first call. Later calls return the same browser or
	// the same error.
	startOnce = sync.OnceValues(start)
	// running is the browser that Main has to stop; nil if none was started.
	running *chromium
)

// Main runs a package's tests and then stops the browser, if a test started it. It returns
// the exit code for os.Exit.
func Main(m *testing.M) int {
	product.RunAtOnce(testsAtOnce)
	defer func() {
		if running != nil {
			running.end()
		}
	}()
	return m.Run()
}

// lookPath returns the path of Chromium. It prefers the headless build, which runs the same
// engine with 40 % less processor time. It fails with errNoChromium if PATH has neither the
// headless nor the normal build.
func lookPath() (string, error) {
	for _, program := range []string{"chromium-headless-shell", "chromium"} {
		if path, err := exec.LookPath(program); err == nil {
			return path, nil
		}
	}
	return "", errNoChromium
}

// start starts the browser with a new, empty profile. It fails with errNoChromium if
// PATH has no Chromium.
func start() (*chromium, error) {
	path, err := lookPath()
	if err != nil {
		return nil, err
	}
	profile, err := os.MkdirTemp("", "mailhelm-browser-")
	if err != nil {
		return nil, err
	}
	c := &chromium{stop: []func(){func() { _ = os.RemoveAll(profile) }}}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(profile), chromedp.WSURLReadTimeout(startTimeout),
		// tests run as root in a container, where Chromium's own sandbox cannot start
		chromedp.Flag("no-sandbox", true),
		chromedp.Flag("disable-gpu", true),
		chromedp.Flag("disable-features", unusedFeatures),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND , EXCLUDE localhost, EXCLUDE 127.0.0.1"),
		chromedp.Flag("hide-scrollbars", true),
		chromedp.Flag("lang", "en-US"),
	)
	allocated, release := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocated, chromedp.WithErrorf(func(string, ...any) {}))
	c.ctx, c.stop = ctx, append(c.stop, release, cancel)
	if err := chromedp.Do(ctx); err != nil {
		c.end()
		return nil, fmt.Errorf("start chromium: %w", err)
	}
	running = c
	return c, nil
}

// end closes the browser and releases its resources in the reverse order of opening. It
// returns after the browser has ended.
func (c *chromium) end() {
	_ = chromedp.Cancel(c.ctx) // an error is harmless: the browser process ends nevertheless
	for i := len(c.stop) - 1; i >= 0; i-- {
		c.stop[i]()
	}
}

// sharedBrowser returns the browser of the package's tests; the first call starts it. If
// [enginetest.Services] returns false, it skips the test. If Chromium is missing, it also
// skips the test, but fails it if the environment variable CI is "true".
func sharedBrowser(t *testing.T) *chromium {
	t.Helper()
	if !enginetest.Services() {
		enginetest.SkipMissing(t, errNoChromium.Error())
	}
	c, err := startOnce()
	if errors.Is(err, errNoChromium) {
		enginetest.SkipMissing(t, err.Error())
	}
	if err != nil {
		t.Fatalf("browser: %v", err)
	}
	return c
}
