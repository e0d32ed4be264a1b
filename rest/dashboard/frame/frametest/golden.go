package frametest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/goldentest"
)

// random matches the parts of a page that differ from run to run: ids, form tokens and
// secrets.
var random = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}` +
	`|name="token" value="[A-Z2-7]+"|(?:sk|oc)_(?:live|test)_[0-9A-Za-z]+|ocs_[A-Z2-7]+|mailhelm-[a-z2-7]{32}` +
	`|\b[0-9]{12}\b|\b[A-Z2-7]{52}\b`)

// CompareGolden compares a page, without its navigation, with testdata/<name>.html. It
// replaces ids and secrets with numbers in the order of their first occurrence. If update
// is true, it writes the file instead; pass the calling test's -update flag.
func CompareGolden(t *testing.T, name, page string, update bool) {
	t.Helper()
	if before, content, ok := strings.Cut(page, `<section class="page">`); ok {
		title, _, _ := strings.Cut(before, "\n")
		content, _, _ = strings.Cut(content, "</section>\n</main>")
		page = title + content
	}
	CompareGoldenWhole(t, name, page, update)
}

// CompareGoldenWhole compares a page, including its navigation, with testdata/<name>.html,
// as CompareGolden does.
func CompareGoldenWhole(t *testing.T, name, page string, update bool) {
	t.Helper()
	seen := map[string]string{}
	page = random.ReplaceAllStringFunc(page, func(found string) string {
		if strings.HasPrefix(found, "name=") {
			return `name="token" value="TOKEN"`
		}
		if seen[found] == "" {
			seen[found] = fmt.Sprintf("RANDOM-%d", len(seen)+1)
		}
		return seen[found]
	})
	file := filepath.Join("testdata", name+".html")
	if update {
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := goldentest.Write(file, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(page, "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}
