package importing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/core"
)

// open returns the organization whose slug or id is ref, and opens the file to import for
// this organization. If ref is "", it returns the only organization of the installation.
// The caller closes the file.
func open(ctx context.Context, s *installation.Session, ref, name string) (core.Org, *countingFile, error) {
	org, err := s.OrgOrOnly(ctx, ref)
	if err != nil {
		return core.Org{}, nil, err
	}
	file, err := openFile(s.Stdin, name)
	return org, file, err
}

// openFile opens the file with this name, or returns standard input for "-". It fails for a
// folder. Closing the result does not close standard input.
func openFile(stdin io.Reader, name string) (*countingFile, error) {
	if name == "-" {
		return &countingFile{ReadCloser: io.NopCloser(stdin), size: sizeOf(stdin)}, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a folder: name its files one at a time, or pipe them in", name)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &countingFile{ReadCloser: file, size: info.Size()}, nil
}

// sizeOf returns the size of standard input if it is a regular file, as after "< FILE". For
// a pipe it returns 0.
func sizeOf(stdin io.Reader) int64 {
	file, ok := stdin.(*os.File)
	if !ok {
		return 0
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

// countingFile is a file that counts the bytes read from it, for the display of progress.
// size is the file's size, 0 if unknown. Another goroutine may load the field bytes
// during a read.
type countingFile struct {
	io.ReadCloser
	size  int64
	bytes atomic.Int64
}

// Read reads from the file and adds the number of bytes to c.bytes.
func (c *countingFile) Read(b []byte) (int, error) {
	n, err := c.ReadCloser.Read(b)
	c.bytes.Add(int64(n))
	return n, err
}
