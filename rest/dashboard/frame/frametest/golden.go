package frametest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// random matches what differs from run to run: identifiers, tokens of forms, secrets.
var random = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}` +
	`|name="token" value="[A-Z2-7]+"|(?:sk|oc)_(?:live|test)_[0-9A-Za-z]+|ocs_[A-Z2-7]+|mailhelm-[a-z2-7]{32}` +
	`|\b[0-9]{12}\b|\b[A-Z2-7]{52}\b`)

// CompareGolden compares a page with testdata/<name>.html, without the navigation around it.
// Identifiers and secrets are numbered by their first appearance. update writes the file: it
// is the flag of this name, which the calling test declares.
func CompareGolden(t *testing.T, name, page string, update bool) {
	t.Helper()
	if before, content, ok := strings.Cut(page, `<section class="page">`); ok {
		title, _, _ := strings.Cut(before, "\n")
		page = title + content
	}
	CompareGoldenWhole(t, name, page, update)
}

// CompareGoldenWhole is Golden for the page with its navigation.
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
		if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
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
