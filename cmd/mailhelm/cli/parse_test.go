package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// probe prints its flag, and how many commands the parsed grammar has.
type probe struct {
	Name string `default:"none"`
}

func (c *probe) Run(p *Program) error {
	_, err := fmt.Fprintf(p.Stdout, "%s %d\n", c.Name, len(p.Parsed.Model.Children))
	return err
}

// TestLeanGrammar checks that a command with the tag lean is parsed without the other commands, and
// that flags, variables, refusals, help and configuration files are those of the whole grammar.
func TestLeanGrammar(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "settings.toml")
	if err := os.WriteFile(file, []byte("other = \"in the file\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	type other struct {
		probe
		Other string
	}
	for _, tc := range []struct {
		args, variable, file string
		status               int
		want                 string
	}{
		{args: "lean", want: "none 1\n"},
		{args: "lean --name a", want: "a 1\n"},
		{args: "lean", variable: "b", want: "b 1\n"},
		{args: "whole --name c", want: "c 3\n"},
		{args: "lean --config " + file, want: "none 3\n"},
		{args: "lean", file: file, want: "none 3\n"},
		{args: "lean --nome", status: ExitUsage, want: "mailhelm: unknown flag --nome, did you mean \"--name\"?\nRun 'mailhelm lean --help' to see its flags and arguments.\n"},
		{args: "lean --master-key x", status: ExitUsage, want: "mailhelm: unknown flag --master-key\nRun 'mailhelm lean --help' to see its flags and arguments.\n"},
		{args: "--name a lean", status: ExitUsage, want: "mailhelm: unknown flag --name\nRun 'mailhelm --help' to see its flags and arguments.\n"},
	} {
		var grammar struct {
			Config string
			Lean   probe `cmd:"" lean:""`
			Whole  probe `cmd:""`
			Other  other `cmd:""`
		}
		var out strings.Builder
		lookup := func(name string) (string, bool) {
			value := map[string]string{"MAILHELM_NAME": tc.variable, "MAILHELM_CONFIG": tc.file}[name]
			return value, value != ""
		}
		status := Run(context.Background(), &grammar, strings.Fields(tc.args), Surroundings{Stdout: &out, Stderr: &out, Lookup: lookup})
		if status != tc.status || out.String() != tc.want {
			t.Errorf("%s: status %d, %q; want %d, %q", tc.args, status, &out, tc.status, tc.want)
		}
	}
}
