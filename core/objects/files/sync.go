//go:build !windows

package files

import (
	"errors"
	"os"
)

// syncFolder flushes a folder to disk, so that the names of its files survive a loss of
// power.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
