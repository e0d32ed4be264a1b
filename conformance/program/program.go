package program

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Build builds the program into a folder that is removed at the end, and returns its path.
func Build(tb testing.TB) string {
	tb.Helper()
	binary := filepath.Join(tb.TempDir(), "mailhelm")
	if output, err := exec.CommandContext(tb.Context(), "go", "build", "-o", binary, "github.com/mailhelm/mailhelm/cmd/mailhelm").CombinedOutput(); err != nil {
		tb.Fatalf("%v\n%s", err, output)
	}
	return binary
}

// Output runs a command of the program at a path to its end, and returns its standard output. It
// fails the test if the command fails.
func Output(tb testing.TB, binary string, args ...string) []byte {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), binary, args...)
	cmd.Env = Environment()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		tb.Fatalf("mailhelm %s: %v\n%s%s", strings.Join(args, " "), err, output, &stderr)
	}
	return output
}

// Environment returns the environment of this process without the settings of Mailhelm.
func Environment() []string {
	var kept []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "MAILHELM_") {
			kept = append(kept, v)
		}
	}
	return kept
}
