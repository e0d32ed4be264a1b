package workflowfiles_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
)

func TestFormatStandardInput(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"fmt"}, {"fmt", "-"}} {
		if r := run(t, untidy, args...); r != (ran{stdout: tidy}) {
			t.Errorf("%v gives %+v", args, r)
		}
	}
	if r := run(t, faulty, "fmt"); r.status != cli.ExitFailure || r.stdout != "" || !strings.Contains(r.stderr, "-:3:3: unexpected \"sned\"") || strings.Count(r.stderr, "\n") != 2 {
		t.Errorf("faults give %+v", r)
	}
	if r := run(t, untidy, "fmt", "--check"); r != (ran{stdout: "-\n", status: cli.ExitFailure}) {
		t.Errorf("--check gives %+v", r)
	}
}

func TestFormatFiles(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"a.workflow": untidy, "in/b.workflow": tidy, "in/c.workflow": faulty, "notes.txt": "x"})
	a, c := filepath.Join(dir, "a.workflow"), filepath.Join(dir, "in", "c.workflow")
	if err := os.Chmod(a, 0o640); err != nil {
		t.Fatal(err)
	}
	r := run(t, "", "fmt", "--check", dir)
	if r.status != cli.ExitFailure || r.stdout != a+"\n" || !strings.HasPrefix(r.stderr, c+":3:3: ") || content(t, a) != untidy {
		t.Errorf("--check gives %+v", r)
	}
	if again := run(t, "", "fmt", dir); again != r {
		t.Errorf("fmt gives %+v, want %+v", again, r)
	}
	if info, err := os.Stat(a); err != nil || info.Mode().Perm() != 0o640 || content(t, a) != tidy || content(t, c) != faulty {
		t.Errorf("%v: the files are not as expected", err)
	}
	if r := run(t, "", "fmt", a, filepath.Join(dir, "in", "b.workflow")); r != (ran{}) {
		t.Errorf("the second run gives %+v", r)
	}
}

func TestFormatJSON(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"a.workflow": untidy, "c.workflow": faulty})
	var got struct {
		Files []struct {
			File, Text string
			Changed    bool
			Errors     []struct {
				Line, Column                  int
				Message, Expected, Suggestion string
			}
		}
	}
	r := run(t, untidy, "fmt", "--json", dir, "-")
	r.decode(t, &got)
	if r.status != cli.ExitFailure || len(got.Files) != 3 || !got.Files[0].Changed || got.Files[0].Text != "" || got.Files[2].Text != tidy {
		t.Fatalf("got %+v", r)
	}
	if e := got.Files[1].Errors; len(e) != 2 || e[0].Line != 3 || e[0].Column != 3 || e[0].Suggestion != "send" || !strings.HasPrefix(e[0].Expected, "a step") {
		t.Errorf("the errors are %+v", e)
	}
}

func TestFormatRefuses(t *testing.T) {
	t.Parallel()
	empty := t.TempDir()
	for name, want := range map[string]string{filepath.Join(empty, "none.workflow"): "no such file", empty: "has no file *.workflow"} {
		if r := run(t, "", "fmt", name); r.status != cli.ExitFailure || !strings.Contains(r.stderr, want) {
			t.Errorf("%s gives %+v, want %q", name, r, want)
		}
	}
}
