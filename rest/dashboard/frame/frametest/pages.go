package frametest

import (
	"html/template"
	"io/fs"
	"net/http"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// screens matches a composite literal of frame.Screen in Go code. The name of the page is
// its capture group.
var screens = regexp.MustCompile(`frame\.Screen\{\s*Page: "(\w+)",`)

// Room is what the pages of a package provide. The type of the package embeds *frame.Pages,
// which has Names and Template.
type Room interface {
	Names() []string
	Template(name string) (*template.Template, error)
	Routes() []frame.Route
}

// Open returns a handler of the room's pages. It fails the test unless every page's template
// can be parsed, and the Go files in the working directory show only existing pages. A page
// is otherwise parsed only when it is first shown.
func (o *Office) Open(room Room) *http.ServeMux {
	o.T.Helper()
	checkPages(o.T, room)
	mux, err := o.Frame.Mux(room.Routes())
	o.Must(err)
	return mux
}

func checkPages(t *testing.T, pages Room) {
	t.Helper()
	names := pages.Names()
	for _, name := range names {
		page, err := pages.Template(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if page.Lookup("page") == nil && page.Lookup("content") == nil {
			t.Errorf("%s defines neither page nor content", name)
		}
		if again, _ := pages.Template(name); again != page {
			t.Errorf("%s is parsed again each time", name)
		}
	}
	files, err := fs.Glob(os.DirFS("."), "*.go")
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range screens.FindAllStringSubmatch(string(source), -1) {
			shown++
			if !slices.Contains(names, match[1]) {
				t.Errorf("%s shows the page %q, which does not exist", file, match[1])
			}
		}
	}
	if shown < len(names)/2 {
		t.Errorf("the sources show %d pages of %d", shown, len(names))
	}
}
