package workflowfiles_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/workflowfiles"
)

// commands is the part of the command line that the tests call.
type commands struct {
	Fmt     workflowfiles.Format         `cmd:""`
	Check   workflowfiles.Check          `cmd:""`
	Explain workflowfiles.Explain        `cmd:""`
	Serve   workflowfiles.LanguageServer `cmd:"" name:"language-server"`
}

// ran is the outcome of a command.
type ran struct {
	stdout, stderr string
	status         int
}

// run runs a command with a text on standard input.
func run(t *testing.T, stdin string, args ...string) ran {
	t.Helper()
	var stdout, stderr strings.Builder
	status := cli.Run(t.Context(), &commands{}, args, cli.Surroundings{
		Stdin: strings.NewReader(stdin), Stdout: &stdout, Stderr: &stderr, Lookup: func(string) (string, bool) { return "", false },
	})
	return ran{stdout.String(), stderr.String(), status}
}

// decode reads the JSON that a command printed.
func (r ran) decode(t *testing.T, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.stdout), v); err != nil {
		t.Fatalf("%v: %s%s", err, r.stdout, r.stderr)
	}
}

// folder returns a folder with files.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// content returns the content of a file.
func content(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The sources of the tests: one in its canonical form, one in another form, and one with
// faults.
const (
	tidy = `workflow "Welcome" v1 {
  enter on activity.signup # when they register

  send "welcome"
  wait 3 days
}
`
	untidy = "workflow \"Welcome\" v1 { enter on activity.signup # when they register\n\n\n send \"welcome\" wait 3 days }"
	faulty = "workflow \"Welcome\" v1 {\n  enter on activity.signup\n  sned \"welcome\"\n  wait 3d\n}\n"
)
