package docs_test

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/goldentest"
)

var update = flag.Bool("update", false, "copy the changelog")

// TestGoldenChangelog compares the changelog that the documentation shows with CHANGELOG.md
// in the root folder, and checks its form.
func TestGoldenChangelog(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := goldentest.Write("changelog.md", source, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	shown, err := os.ReadFile("changelog.md")
	if err != nil || string(shown) != string(source) {
		t.Errorf("%v, or changelog.md differs from CHANGELOG.md: run the test with -update", err)
	}
	if !strings.Contains(string(source), "\n## [Unreleased]\n") {
		t.Error("the changelog has no section [Unreleased]")
	}
	for _, heading := range regexp.MustCompile(`(?m)^##+ .*$`).FindAllString(string(source), -1) {
		if !changelogHeading.MatchString(heading) {
			t.Errorf("%q is neither a version with its date nor a kind of change", heading)
		}
	}
}

var changelogHeading = regexp.MustCompile(`^## \[(Unreleased\]|\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d)$|^### (Added|Changed|Deprecated|Removed|Fixed|Security)$`)
