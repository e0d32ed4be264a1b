package documenting_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/documenting"
)

// TestExport writes the files twice into the same folder, and checks that they name the
// given addresses.
func TestExport(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "public")
	for range 2 {
		var out, errors bytes.Buffer
		var root struct {
			Docs documenting.Command `cmd:""`
		}
		status := cli.Run(t.Context(), &root, []string{"docs", "export", dir, "--base-url", "https://api.other.test", "--docs-url", "https://other.test/docs"},
			cli.Surroundings{Stdout: &out, Stderr: &errors, Lookup: func(string) (string, bool) { return "", false }})
		if status != 0 || !strings.Contains(out.String(), " files to "+dir) {
			t.Fatalf("status %d: %s%s", status, out.String(), errors.String())
		}
	}
	for name, want := range map[string]string{
		"index.html": "https://api.other.test/v1", "api/contacts_list.html": "https://api.other.test/v1/contacts?", "llms.txt": "https://other.test/docs/guides/contacts.md",
		"tools/contacts_lookup.md": "# contacts_lookup",
	} {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v, or it lacks %q", name, err, want)
		}
	}
}
