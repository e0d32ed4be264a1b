package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestRunOfCI runs .ci/run in a small repository, with a make that ends as the case says. The status of the
// script must be that of the tests and of lint, which run beside each other.
func TestRunOfCI(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, test, lint, want string }{
		{"everything passes", "0", "0", "0"},
		{"a test fails", "2", "0", "2"},
		{"lint finds something", "0", "3", "3"},
	} {
		t.Run(tc.name, func(t *testing.T) { // one after the other: a program that is open for writing cannot be run
			dir := t.TempDir()
			programs := filepath.Join(dir, "programs")
			// All programs are there, so that nothing is installed.
			for _, name := range strings.Fields("curl jq gcc chromium-headless-shell npm node python3 php ruby redis-server rspamd clamd swaks perl postgres") {
				write(t, filepath.Join(programs, name), "#!/bin/sh\n")
			}
			write(t, filepath.Join(programs, "make"), "#!/bin/sh\ncase \"$*\" in *lint) echo findings of lint; exit "+tc.lint+";; *) exit "+tc.test+";; esac\n")
			repository := filepath.Join(dir, "repository")
			for _, name := range []string{"run", "unchanged"} {
				script, err := os.ReadFile(filepath.Join("../../.ci", name))
				if err != nil {
					t.Fatal(err)
				}
				write(t, filepath.Join(repository, ".ci", name), string(script))
			}
			output := command(t, programs, "git", "-C", repository, "init", "--quiet")
			output += command(t, programs, filepath.Join(repository, ".ci/run"))
			if !strings.Contains(output, "findings of lint\n") || !strings.Contains(output, "=== done with status "+tc.want+" (") || !strings.HasSuffix(output, "\nexit status "+tc.want+"\n") {
				t.Errorf("ended with:\n%s", output)
			}
		})
	}
}

// write writes a program.
func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o700); err != nil {
		t.Fatal(err)
	}
}

// command returns the output of a program, and if it is a script of CI its exit status. It finds other programs in the
// folder first.
func command(t *testing.T, programs, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env = append(os.Environ(), "PATH="+programs+":"+os.Getenv("PATH"), "TMPDIR="+filepath.Dir(programs))
	output, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(name, ".ci/run") {
		return string(output) + "exit status " + strings.TrimPrefix(cmd.ProcessState.String(), "exit status ") + "\n"
	}
	return string(output)
}
