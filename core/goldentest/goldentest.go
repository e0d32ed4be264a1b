// Package goldentest writes the expected results of tests, their golden files. It imports no
// other package of ours, so every test may use it. It does not compare: each test does.
package goldentest

import (
	"bytes"
	"os"
)

// Write writes content to the file name as [os.WriteFile] does, unless the file has this
// content. While the tests of CI write golden files, other tests read them and the compiler
// embeds some, and an unchanged file must not be empty for a moment.
func Write(name string, content []byte, mode os.FileMode) error {
	if before, err := os.ReadFile(name); err == nil && bytes.Equal(before, content) {
		return nil
	}
	return os.WriteFile(name, content, mode)
}
