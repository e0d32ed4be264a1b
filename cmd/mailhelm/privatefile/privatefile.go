// Package privatefile writes files that only their owner may read, such as tokens.
package privatefile

import (
	"errors"
	"os"
	"path/filepath"
)

// Write replaces the file at path by one with this content and mode 0600. Readers see the
// old or the new content, never a part: the content is written to a temporary file in the
// same folder, which is then renamed. The folder must exist.
func Write(path string, content []byte) error {
	draft, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // with mode 0600
	if err != nil {
		return err
	}
	_, err = draft.Write(content)
	if err == nil {
		err = draft.Sync()
	}
	err = errors.Join(err, draft.Close())
	if err == nil {
		err = os.Rename(draft.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(draft.Name()))
	}
	return nil
}
