package main

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestACommandGivesUpOnABusyDatabase: another process writes for longer than a command
// waits. The command ends, says why in the words of the shell, and has changed nothing;
// repeated afterwards it succeeds.
func TestACommandGivesUpOnABusyDatabase(t *testing.T) {
	t.Parallel()
	const wait = 200 * time.Millisecond
	dir := t.TempDir()
	storagetest.CopySQLite(t, dir)
	create := func() (string, error) {
		var stdout, stderr strings.Builder
		p := &program{ctx: t.Context(), stdout: &stdout, stderr: &stderr, wait: wait}
		err := p.execute([]string{"admin", "org", "create", "acme", "--data", dir}, func(string) (string, bool) { return "", false })
		return stdout.String() + stderr.String(), err
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
	said, err := create()
	if took := time.Since(began); took < wait {
		t.Errorf("the command gave up after %v, want %v", took, wait)
	}
	if err == nil || said != "" || !strings.Contains(err.Error(), "busy for "+wait.String()) || !strings.Contains(err.Error(), "Run the command again") {
		t.Errorf("while another process writes: %v %q", err, said)
	}
	do("ROLLBACK")
	if said, err := create(); err != nil || !strings.Contains(said, "acme") {
		t.Errorf("afterwards: %v %q", err, said)
	}
}
