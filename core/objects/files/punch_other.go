//go:build !linux

package files

import (
	"errors"
	"os"
)

var errNoSegments = errors.New("this system has no segments")

// canPack reports that every object has a file of its own: what segments need of the system is
// known for Linux only.
func canPack(string) bool { return false }

func punch(*os.File, int64, int64) error { return errNoSegments }

func nextData(*os.File, int64) (int64, bool, error) { return 0, false, errNoSegments }

func lockFile(*os.File) (bool, error) { return false, errNoSegments }

func flushContent(file *os.File) error { return file.Sync() }
