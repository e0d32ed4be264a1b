package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// shell runs `mailhelm admin` commands on one installation. It calls the function run, or
// starts a process for each command if processes is true.
type shell struct {
	t         *testing.T
	database  storage.Config // Dir is the data folder of the installation
	where     []string       // the flags that select the data folder and the database
	processes bool
}

// newShell returns a shell for a new installation, on SQLite or on PostgreSQL. The data
// folder does not exist yet. A PostgreSQL database has the complete schema and no rows.
func newShell(t *testing.T, postgres bool) shell {
	t.Helper()
	database := storage.Config{Dir: filepath.Join(enginetest.Folder(t), "data")}
	if postgres {
		database.URL, database.MaxConns = enginetest.PostgresURL(t), 2
	}
	return shellOn(t, database)
}

// shellOn returns a shell for the installation that uses the given folder and database.
func shellOn(t *testing.T, database storage.Config) shell {
	t.Helper()
	s := shell{t: t, database: database, where: []string{"--data", database.Dir}}
	if database.URL != "" {
		s.where = append(s.where, "--database-url", database.URL)
	}
	if database.DirectURL != "" {
		s.where = append(s.where, "--database-direct-url", database.DirectURL)
	}
	return s
}

// inProcesses returns a shell for the same installation that starts a process for each
// command. Use it only in tests of what one process leaves to the next, or of everything
// that a process prints: a command in a process of its own takes several times the
// processor time of a command in the test's process.
func (s shell) inProcesses() shell {
	s.processes = true
	return s
}

// migrated returns a shell for a new installation on SQLite that has the complete schema and
// no rows.
func migrated(t *testing.T) shell {
	t.Helper()
	return newShell(t, false).migrate()
}

// migrate gives the installation a database with the schema, and returns the shell. On
// SQLite it copies a migrated file; there must be none yet. On PostgreSQL the test's database
// already has the schema; there it runs `mailhelm migrate up`, which changes nothing.
func (s shell) migrate() shell {
	s.t.Helper()
	if s.database.URL != "" {
		if r := runWith(s.t, nil, append([]string{"migrate", "up"}, s.where...)...); r.status != cli.ExitOK {
			s.t.Fatal(r.stderr)
		}
		return s
	}
	if err := os.Mkdir(s.database.Dir, 0o700); err != nil {
		s.t.Fatal(err)
	}
	enginetest.CopySQLite(s.t, s.database.Dir)
	return s
}

// errStatus is the error of a command with an exit status other than 0.
var errStatus = errors.New("exit status")

// try runs an admin command and returns its standard output and its standard error. The
// error is not nil if the exit status is not 0.
func (s shell) try(stdin string, args ...string) (string, string, error) {
	s.t.Helper()
	args = append(append([]string{"admin"}, args...), s.where...)
	if s.processes {
		return s.start(stdin, args)
	}
	stdout, stderr := newTranscript(), newTranscript()
	var err error
	if status := run(s.t.Context(), args, cli.Surroundings{
		Stdin: strings.NewReader(stdin), Stdout: stdout, Stderr: stderr, BusyWait: busyWait,
		Lookup: func(string) (string, bool) { return "", false },
	}); status != cli.ExitOK {
		err = fmt.Errorf("%w %d", errStatus, status)
	}
	return stdout.String(), stderr.String(), err
}

// start starts the program with args, waits for its end and returns what try returns.
func (s shell) start(stdin string, args []string) (string, string, error) {
	s.t.Helper()
	path, err := binary()
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), startTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
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
