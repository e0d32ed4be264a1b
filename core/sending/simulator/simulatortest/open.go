// Package simulatortest opens simulated sending accounts for tests.
package simulatortest

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// Open returns a new simulated sending account without data. It is closed when the test
// ends. Its file is in [storagetest.Folder] and is a copy of an empty account, because
// creating the tables takes ten times as long as copying them.
func Open(tb testing.TB, opts simulator.Options) *simulator.Simulator {
	tb.Helper()
	empty, err := emptyAccount()
	if err != nil {
		tb.Fatalf("simulatortest: %v", err)
	}
	path := filepath.Join(storagetest.Folder(tb), "account.db")
	if err := os.WriteFile(path, empty, 0o600); err != nil {
		tb.Fatalf("simulatortest: %v", err)
	}
	s, err := simulator.Open(path, opts)
	if err != nil {
		tb.Fatalf("simulatortest: %v", err)
	}
	tb.Cleanup(func() { _ = s.Close() }) // ignore the error, because the test has ended
	return s
}

// emptyAccount returns the content of the file of an account without data. Each process
// creates one.
var emptyAccount = sync.OnceValues(func() (content []byte, err error) {
	dir, err := os.MkdirTemp("", "mailhelm-test-account-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "account.db")
	s, err := simulator.Open(path, simulator.Options{})
	if err != nil {
		return nil, err
	}
	// Close before reading the file: SQLite writes its log (WAL) back into the file when
	// the last connection is closed.
	if err := s.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})
