package browser

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// FolderVariable is the environment variable that names the folder for pictures. If it is
// unset, Picture stores no file but still checks the width of pages.
const FolderVariable = "MAILHELM_SCREENSHOTS"

// screen is the size of a window, in CSS pixels.
type screen struct {
	// name is the name of the size in the file names of pictures, such as "phone"
	name          string
	width, height int64
	// mobile makes the browser obey a page's viewport meta tag, as a phone does.
	mobile bool
	// scheme is the colour scheme of the picture that Picture takes of a page in runs that are not
	// full, "" for none.
	scheme string
}

var (
	// phone, tablet and desktop are the window sizes in which Picture checks a page. A new
	// tab has the size desktop.
	phone   = screen{"phone", 375, 812, true, "dark"}
	tablet  = screen{"tablet", 820, 1180, false, ""}
	desktop = screen{"desktop", 1280, 900, false, "light"}
)

// hiddenWidth is a script. It returns the largest number of pixels by which a table is wider
// than its visible part.
const hiddenWidth = `Math.max(0, ...[...document.querySelectorAll(".scroll")].map((e) => e.scrollWidth - e.clientWidth))`

// wholePage are the parameters of a screenshot of the whole page. The image is compressed
// for speed: it is larger, but takes less time.
var wholePage = page.CaptureScreenshotParams{
	Format: page.CaptureScreenshotFormatPng, CaptureBeyondViewport: new(true), FromSurface: new(true), OptimizeForSpeed: new(true),
}

// pictured has the names of the pages that Picture has checked in this run. A test that runs
// with and without scripts checks each page once.
var pictured sync.Map

// Picture fails the test if the page is wider than a phone, a tablet or a desktop, or if a
// table is wider than a page on a desktop. It stores screenshots of the whole page as
// name-screen-scheme.png in the folder that the environment variable FolderVariable names. A
// full run ([enginetest.Full]) has each screen light and dark. Other runs have at most
// one picture of a page, because screenshots take much of the time: of each area of the dashboard and
// of half of the other pages, on the phone, dark, or on the desktop, light. They check each name once:
// further calls with it do nothing. Afterwards the tab has the desktop size and the light scheme.
func (tab *Tab) Picture(name string) {
	tab.t.Helper()
	if _, before := pictured.LoadOrStore(name, true); before && !enginetest.Full() {
		tab.resize(desktop, "light")
		return
	}
	for _, s := range []screen{phone, tablet, desktop} {
		tab.resize(s, "light")
		if width := evaluate[float64](tab, "document.documentElement.scrollWidth"); int64(width) > s.width {
			tab.t.Errorf("browser: %s is %v pixels wide on a %s", name, width, s.name)
		}
		if hidden := evaluate[float64](tab, hiddenWidth); s == desktop && hidden > 1 { // a pixel of rounding
			tab.t.Errorf("browser: a table of %s is %v pixels too wide for a %s", name, hidden, s.name)
		}
		tab.store(name, s)
	}
	tab.resize(desktop, "light")
}

// areaPrefix begins the names of pages that are the first of an area of the dashboard.
const areaPrefix = "page-"

// screenOf returns the screen of the only picture of a page with this name: always the same. It returns
// false for a page without a picture.
func screenOf(name string) (screen, bool) {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(name))
	sum := hash.Sum32()
	pictured := strings.HasPrefix(name, areaPrefix) || sum/2%2 == 0
	if sum%2 == 0 {
		return phone, pictured
	}
	return desktop, pictured
}

// store stores the screenshots of one screen.
func (tab *Tab) store(name string, s screen) {
	tab.t.Helper()
	folder := os.Getenv(FolderVariable)
	var schemes []string
	if only, pictured := screenOf(name); enginetest.Full() {
		schemes = []string{"light", "dark"}
	} else if pictured && s == only {
		schemes = []string{s.scheme}
	}
	for _, scheme := range schemes {
		if folder == "" {
			continue
		}
		tab.must("folder for pictures", os.MkdirAll(folder, 0o755))
		tab.resize(s, scheme)
		tab.paintFrame()
		picture, err := chromedp.Call(tab.ctx, page.CaptureScreenshot, wholePage)
		tab.must("picture", err)
		tab.must("picture", os.WriteFile(filepath.Join(folder, name+"-"+s.name+"-"+scheme+".png"), picture.Data, 0o644))
	}
}

// paintFrame makes the browser paint the first frame of the page, if it has one. Browsers do not
// paint frames outside of the window, which a picture of the whole page would show empty. A picture
// of the window is complete only when everything in it is painted.
func (tab *Tab) paintFrame() {
	tab.t.Helper()
	const show = `(f => { if (f) f.scrollIntoView({block: "center"}); return !!f })(document.querySelector("iframe"))`
	if !evaluate[bool](tab, show) {
		return
	}
	_, err := chromedp.Call(tab.ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatPng, OptimizeForSpeed: new(true)})
	tab.must("paint frame", err)
	evaluate[bool](tab, `(scrollTo(0, 0), true)`)
}

// resize sets the window's size and the preferred colour scheme, "light" or "dark". It
// does not reload the page.
func (tab *Tab) resize(s screen, scheme string) {
	tab.t.Helper()
	if tab.size != s {
		_, err := chromedp.Call(tab.ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
			Width: s.width, Height: s.height, DeviceScaleFactor: 1, Mobile: s.mobile,
		})
		tab.must("resize", err)
	}
	if tab.scheme != scheme {
		_, err := chromedp.Call(tab.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		tab.must("colours", err)
	}
	tab.size, tab.scheme = s, scheme
}

// AsPhone gives the tab the size of a phone until the next call of Picture.
func (tab *Tab) AsPhone() {
	tab.t.Helper()
	tab.resize(phone, "light")
}

// AwaitColour waits until the middle of the first element that matches a selector has a
// colour, such as "#1f1f1f". It shows what a frame displays whose document tests cannot read.
// It ends the test after stepTimeout.
func (tab *Tab) AwaitColour(selector, colour string) {
	tab.t.Helper()
	product.Await(tab.t, stepTimeout, func() error {
		if shown := tab.colourOf(selector); shown != colour {
			return fmt.Errorf("the middle of %s has the colour %s, want %s", selector, shown, colour)
		}
		return nil
	})
}

// colourOf returns the colour in the middle of an element.
func (tab *Tab) colourOf(selector string) string {
	tab.t.Helper()
	const middle = `(() => {
		const element = document.querySelector(%q);
		element.scrollIntoView({block: "center"}); // browsers paint no frames outside of the window
		const box = element.getBoundingClientRect();
		return [box.left + box.width / 2 + scrollX, box.top + box.height / 2 + scrollY];
	})()`
	at := evaluate[[]float64](tab, fmt.Sprintf(middle, selector))
	pixel := wholePage
	pixel.Clip = &page.Viewport{X: at[0], Y: at[1], Width: 1, Height: 1, Scale: 1}
	picture, err := chromedp.Call(tab.ctx, page.CaptureScreenshot, pixel)
	tab.must("colour of "+selector, err)
	decoded, err := png.Decode(bytes.NewReader(picture.Data))
	tab.must("colour of "+selector, err)
	r, g, b, _ := decoded.At(0, 0).RGBA()
	return strings.ToLower(fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8))
}
