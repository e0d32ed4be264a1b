package goldentest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mailhelm/mailhelm/core/goldentest"
)

// TestWrite checks that a new file and changed content are written, and that a file with
// the same content is not opened for writing.
func TestWrite(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "golden")
	var before os.FileInfo
	for _, step := range []struct {
		content string
		same    bool
	}{{"a", false}, {"a", true}, {"b", false}, {"b", true}, {"", false}} {
		if before != nil {
			// A time that no later write of this test can have.
			if err := os.Chtimes(file, before.ModTime(), before.ModTime().AddDate(-1, 0, 0)); err != nil {
				t.Fatal(err)
			}
			before = stat(t, file)
		}
		if err := goldentest.Write(file, []byte(step.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != step.content {
			t.Errorf("%q, %v, want %q", got, err, step.content)
		}
		after := stat(t, file)
		if before != nil && after.ModTime().Equal(before.ModTime()) != step.same {
			t.Errorf("%q: unchanged is %t, want %t", step.content, !step.same, step.same)
		}
		before = after
	}
	if err := goldentest.Write(filepath.Join(file, "none"), nil, 0o600); err == nil {
		t.Error("a file below a file was written")
	}
}

func stat(t *testing.T, file string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return info
}
