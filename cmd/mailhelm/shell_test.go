package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// shell runs `mailhelm admin` commands of the compiled program on one installation.
type shell struct {
	t        *testing.T
	database storage.Config // Dir is the data folder of the installation
	where    []string       // the flags that select the data folder and the database
}

// newShell returns a shell for a new installation, on SQLite or on PostgreSQL. The data
// folder does not exist yet. A PostgreSQL database has the complete schema and no rows.
func newShell(t *testing.T, postgres bool) shell {
	t.Helper()
	database := storage.Config{Dir: filepath.Join(t.TempDir(), "data")}
	if postgres {
		database.URL, database.MaxConns = storagetest.PostgresURL(t), 2
	}
	return shellOn(t, database)
}

// shellOn returns a shell for the installation that uses the given folder and database.
func shellOn(t *testing.T, database storage.Config) shell {
	t.Helper()
	s := shell{t, database, []string{"--data", database.Dir}}
	if database.URL != "" {
		s.where = append(s.where, "--database-url", database.URL)
	}
	return s
}

// migrated returns a shell for a new installation on SQLite that has the complete schema and
// no rows.
func migrated(t *testing.T) shell {
	t.Helper()
	return newShell(t, false).migrate()
}

// migrate creates the schema of the installation, if it lacks one, and returns the shell.
func (s shell) migrate() shell {
	s.t.Helper()
	if r := runWith(s.t, nil, append([]string{"migrate", "up"}, s.where...)...); r.status != cli.ExitOK {
		s.t.Fatal(r.stderr)
	}
	return s
}

// try runs an admin command and returns its standard output, its standard error and the
// error of the process.
func (s shell) try(stdin string, args ...string) (string, string, error) {
	s.t.Helper()
	path, err := binary()
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), startTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, append(append([]string{"admin"}, args...), s.where...)...)
	var stdout, stderr bytes.Buffer
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = withoutSettings(os.Environ()), strings.NewReader(stdin), &stdout, &stderr
	cmd.Dir = s.t.TempDir()
	err = cmd.Run()
	return stdout.String(), stderr.String(), err
}

// mustRun runs an admin command and returns its standard output. The test ends if the
// command fails or writes to standard error.
func (s shell) mustRun(args ...string) string {
	s.t.Helper()
	stdout, stderr, err := s.try("", args...)
	if err != nil || stderr != "" {
		s.t.Fatalf("admin %v: %v\n%s", args, err, stderr)
	}
	return stdout
}

// does runs an admin command with --json and returns the JSON object that it prints. The
// test ends if the command fails.
func (s shell) does(args ...string) map[string]any {
	s.t.Helper()
	var object map[string]any
	if err := json.Unmarshal([]byte(s.mustRun(append(args, "--json")...)), &object); err != nil {
		s.t.Fatalf("admin %v: %v", args, err)
	}
	return object
}

// refuses runs an admin command that must fail. The command must print an error message
// that contains the parameter text. It must print to standard error only.
func (s shell) refuses(text string, args ...string) {
	s.t.Helper()
	stdout, stderr, err := s.try("", args...)
	if err == nil || stdout != "" || !strings.Contains(stderr, text) {
		s.t.Errorf("admin %v: %v, want %q:\n%s%s", args, err, text, stdout, stderr)
	}
}
