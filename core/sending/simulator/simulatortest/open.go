// Package simulatortest opens simulated sending accounts for tests.
package simulatortest

import (
	"path/filepath"
	"testing"

	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// fileName is the name of an account's file.
const fileName = "account.db"

// empty is a folder with the file of an account without data. Creating the tables of the
// account takes ten times as long as copying them.
var empty = enginetest.NewFolderTemplate(func(dir string) error {
	s, err := simulator.Open(filepath.Join(dir, fileName), simulator.Options{})
	if err != nil {
		return err
	}
	return s.Close()
})

// Open returns a new simulated sending account without data. It is closed when the test
// ends. Its file is in [enginetest.Folder].
func Open(tb testing.TB, opts simulator.Options) *simulator.Simulator {
	tb.Helper()
	dir := enginetest.Folder(tb)
	empty.CopyTo(tb, dir)
	s, err := simulator.Open(filepath.Join(dir, fileName), opts)
	if err != nil {
		tb.Fatalf("simulatortest: %v", err)
	}
	tb.Cleanup(func() { _ = s.Close() }) // an error of Close does not matter here
	return s
}
