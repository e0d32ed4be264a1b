package frametest

import (
	"io/fs"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// screens matches a composite literal of frame.Screen in Go code. The name of the page is
// its capture group.
var screens = regexp.MustCompile(`frame\.Screen\{Page: "(\w+)",`)

// CheckPages checks that every page's template can be parsed, and that the Go files in the
// working directory show only existing pages. Call it in the tests of each package with
// pages, because a page is otherwise parsed only when it is first shown.
func CheckPages(t *testing.T, pages *frame.Pages) {
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
