package main

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// TestACommandGivesUpOnABusyDatabase locks the SQLite database for longer than a command
// waits. The command must fail, name the cause and change nothing. After the lock is
// released, the same command must succeed.
func TestACommandGivesUpOnABusyDatabase(t *testing.T) {
	t.Parallel()
	const wait = 200 * time.Millisecond
	dir := t.TempDir()
	enginetest.CopySQLite(t, dir)
	create := func() (int, string) {
		var stdout, stderr strings.Builder
		status := run(t.Context(), []string{"admin", "org", "create", "acme", "--data", dir}, cli.Surroundings{
			Stdout: &stdout, Stderr: &stderr, BusyWait: wait, Lookup: func(string) (string, bool) { return "", false },
		})
		return status, stdout.String() + stderr.String()
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "mailhelm.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // nothing is written
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // nothing is written
	do := func(query string) {
		t.Helper()
		if _, err := conn.ExecContext(context.WithoutCancel(t.Context()), query); err != nil {
			t.Fatal(err)
		}
	}

	do("BEGIN IMMEDIATE")
	began := time.Now()
	status, output := create()
	if took := time.Since(began); took < wait {
		t.Errorf("the command gave up after %v, want %v", took, wait)
	}
	if status != cli.ExitFailure || !strings.Contains(output, "busy for "+wait.String()) || !strings.Contains(output, "run the command again") {
		t.Errorf("while another process writes: %d %q", status, output)
	}
	do("ROLLBACK")
	if status, output := create(); status != cli.ExitOK || !strings.Contains(output, "acme") {
		t.Errorf("afterwards: %d %q", status, output)
	}
}
