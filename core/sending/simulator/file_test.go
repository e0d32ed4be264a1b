package simulator_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

func TestOpenCreatesTheFileForTheOwnerAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "account.db")
	seed(t, open(t, path, simulator.Options{}), "org", 1)
	for _, name := range []string{path, path + "-wal"} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, want 0600", filepath.Base(name), info.Mode().Perm())
		}
	}
}

func TestOpenTakesAnyPath(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"with space.db", "what?.db", "a#b.db", "100%41.db", "größe.db", "file:x.db"} {
		folder := t.TempDir()
		open(t, filepath.Join(folder, name), simulator.Options{})
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestOpenRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		make func(t *testing.T, path string)
		says string
	}{
		"no folder":       {func(t *testing.T, path string) { mustRemove(t, filepath.Dir(path)) }, "no such file or directory"},
		"a folder":        {func(t *testing.T, path string) { must(t, os.Mkdir(path, 0o700)) }, "is a directory"},
		"text":            {func(t *testing.T, path string) { write(t, path, strings.Repeat("not a database\n", 100)) }, "is damaged"},
		"a cut file":      {truncateFile, "is damaged"},
		"an overwritten":  {overwrite, "is damaged"},
		"another program": {execSQL("CREATE TABLE songs (title TEXT)"), "database of something else"},
		"a newer version": {makeNewer, "written by a newer version"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "folder", "account.db")
			must(t, os.Mkdir(filepath.Dir(path), 0o700))
			test.make(t, path)
			s, err := simulator.Open(path, simulator.Options{})
			if err == nil {
				t.Fatal("opened", s.Close())
			}
			if !strings.Contains(err.Error(), test.says) || !strings.Contains(err.Error(), path) {
				t.Errorf("Open fails with %q, want the path and %q", err, test.says)
			}
		})
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mustRemove(t *testing.T, path string) { t.Helper(); must(t, os.RemoveAll(path)) }

func write(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

// fillFile creates an account with 100 contacts in a new file, closes the file and returns
// its content.
func fillFile(t *testing.T, path string) []byte {
	t.Helper()
	s, err := simulator.Open(path, simulator.Options{})
	must(t, err)
	seed(t, s, "org", 100)
	must(t, s.Close())
	b, err := os.ReadFile(path)
	must(t, err)
	return b
}

func truncateFile(t *testing.T, path string) {
	t.Helper()
	write(t, path, string(fillFile(t, path)[:5000]))
}

// overwrite creates an account's SQLite file and overwrites the schema in the file, but
// keeps the header of the file.
func overwrite(t *testing.T, path string) {
	t.Helper()
	b := fillFile(t, path)
	for i := 100; i < 4096; i++ {
		b[i] = 0xAA
	}
	write(t, path, string(b))
}

func execSQL(text string) func(t *testing.T, path string) {
	return func(t *testing.T, path string) {
		t.Helper()
		db, err := sql.Open("sqlite", path)
		must(t, err)
		_, err = db.ExecContext(t.Context(), text)
		must(t, err)
		must(t, db.Close())
	}
}

func makeNewer(t *testing.T, path string) {
	t.Helper()
	fillFile(t, path)
	execSQL("PRAGMA user_version = 99")(t, path)
}

// TestOpenAtOnce checks that several goroutines can open the same missing file at once.
func TestOpenAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "account.db")
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			s, err := simulator.Open(path, simulator.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			if err := s.Seed(t.Context(), "org", simulator.Setup{List: list("news")}); err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// TestTwoOpenersSeeEachOther checks that two simulators with the same file read each
// other's changes. To pass, a simulator must not cache the content of the file.
func TestTwoOpenersSeeEachOther(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "account.db")
	one, other := open(t, path, simulator.Options{}), open(t, path, simulator.Options{})
	seed(t, one, "org", 0)
	for i := range 10 {
		c := person(i)
		c.UnsubscribeAll = i%2 == 0
		must(t, one.PutContact(t.Context(), "org", c))
		got, err := other.Contact(t.Context(), "org", c.Email)
		if err != nil || got.UnsubscribeAll != c.UnsubscribeAll {
			t.Fatalf("the other reads %+v, %v", got, err)
		}
		must(t, other.DeleteContact(t.Context(), "org", c.Email))
		if _, err := one.Contact(t.Context(), "org", c.Email); !sending.IsNotFound(err) {
			t.Fatalf("the first still reads a contact that the other deleted: %v", err)
		}
	}
}

// TestLockedFile checks a file that another connection has locked for writing. Reads
// succeed. A write fails with TimedOut when its context ends, and has no effect.
func TestLockedFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "account.db")
	s := open(t, path, simulator.Options{})
	seed(t, s, "org", 1)
	db, err := sql.Open("sqlite", path+"?_txlock=immediate")
	must(t, err)
	defer func() { must(t, db.Close()) }()
	tx, err := db.BeginTx(t.Context(), nil)
	must(t, err)

	c := person(0)
	c.UnsubscribeAll = true
	for _, patience := range []time.Duration{time.Millisecond, 60 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		wantFailure(t, s.PutContact(ctx, "org", c), sending.TimedOut)
	}
	if got, err := s.Contact(t.Context(), "org", c.Email); err != nil || got.UnsubscribeAll {
		t.Errorf("a read beside the lock gives %+v, %v", got, err)
	}
	must(t, tx.Rollback())
	must(t, s.PutContact(t.Context(), "org", c))
}

// TestWriteWaitsItsTurn checks that a write waits for the file's lock longer than SQLite
// itself would wait. Another connection holds the lock, and releases it after five failed
// attempts to lock the file. Each attempt takes the time that SQLite waits.
func TestWriteWaitsItsTurn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "account.db")
	s := open(t, path, simulator.Options{})
	seed(t, s, "org", 0)
	db, err := sql.Open("sqlite", path+"?_txlock=immediate&_pragma=busy_timeout(30)")
	must(t, err)
	defer func() { must(t, db.Close()) }()
	tx, err := db.BeginTx(t.Context(), nil)
	must(t, err)
	put := make(chan error, 1)
	go func() { put <- s.PutContact(t.Context(), "org", person(0)) }()
	for range 5 {
		if _, err := db.BeginTx(t.Context(), nil); err == nil {
			t.Fatal("the file is not locked")
		}
	}
	must(t, tx.Rollback())
	must(t, <-put)
}
