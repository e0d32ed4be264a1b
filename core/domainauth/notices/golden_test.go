package notices_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/mailhelm/mailhelm/core/goldentest"
)

var update = flag.Bool("update", false, "write the golden files again")

// golden compares a text with a golden file.
func golden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := goldentest.Write(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("%s differs:\n%s", path, text)
	}
}
