package dashboard

import (
	"io/fs"
	"os"
	"regexp"
	"testing"
)

// TestEveryPageParses: nobody finds that out only when the page is first shown, nor that
// a page is not there.
func TestEveryPageParses(t *testing.T) {
	t.Parallel()
	d := &Dashboard{Config: Config{Frame: bareFrame{}}}
	if err := d.listPages(); err != nil {
		t.Fatal(err)
	}
	for name, parse := range d.pages {
		page, err := parse()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if page.Lookup("page") == nil && page.Lookup("content") == nil {
			t.Errorf("%s defines neither page nor content", name)
		}
		if again, _ := parse(); again != page {
			t.Errorf("%s is parsed anew each time", name)
		}
	}
	shown := regexp.MustCompile(`screen\{page: "(\w+)",|status, "(\w+)"`)
	files, err := fs.Glob(os.DirFS("."), "*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range shown.FindAllStringSubmatch(string(source), -1) {
			found++
			if name := match[1] + match[2]; d.pages[name] == nil {
				t.Errorf("%s shows the page %q, which is not there", file, name)
			}
		}
	}
	if found < len(d.pages)/2 {
		t.Errorf("the sources show %d pages of %d", found, len(d.pages))
	}
}
