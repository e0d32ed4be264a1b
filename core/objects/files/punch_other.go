//go:build !linux

package files

import (
	"errors"
	"os"
)

var errNoPacks = errors.New("this system has no packs")

// canPack reports that every object has a file of its own: what packs need of the system is
// known for Linux only.
func canPack(string) bool { return false }

func punch(*os.File, int64, int64) error { return errNoPacks }

func nextData(*os.File, int64) (int64, bool, error) { return 0, false, errNoPacks }

func lockFile(*os.File) (bool, error) { return false, errNoPacks }

func flushContent(file *os.File) error { return file.Sync() }
