package archive

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// encrypted is the flag of an encrypted file (APPNOTE 4.4.4, bits 0 and 6).
const encrypted = 1 | 1<<6

// ReadZip reads a zip archive. It fails with core.CodeValidationFailed, and names the file, for an
// archive that no bundle can be. The caller limits the size of the archive: an import has at most
// MaxPacked bytes, but an export can have more.
func ReadZip(packed []byte) (Tree, error) {
	r, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, core.Invalid("body", "is no zip archive that can be read; pack the folder again")
	}
	b := newBuilder()
	for _, f := range r.File {
		name := f.Name
		if strings.HasSuffix(name, "/") && f.UncompressedSize64 == 0 && f.Mode().Type()&^fs.ModeDir == 0 {
			if reason := CheckPath(strings.TrimSuffix(name, "/")); reason != "" {
				return nil, refuse(name, reason)
			}
			continue
		}
		if err := b.claim(name); err != nil {
			return nil, err
		}
		content, err := unpack(f)
		if err != nil {
			return nil, err
		}
		if err := b.add(name, content); err != nil {
			return nil, err
		}
	}
	return b.tree, nil
}

// unpack returns the content of a file.
func unpack(f *zip.File) ([]byte, error) {
	switch {
	case f.Flags&encrypted != 0:
		return nil, refuse(f.Name, "is encrypted; pack it without a password")
	case f.Mode()&fs.ModeSymlink != 0:
		return nil, refuse(f.Name, "is a symbolic link; pack the file itself")
	case !f.Mode().IsRegular():
		return nil, refuse(f.Name, "is no regular file")
	case f.Method != zip.Store && f.Method != zip.Deflate:
		return nil, refuse(f.Name, fmt.Sprintf("has the compression method %d; pack it with deflate", f.Method))
	case f.UncompressedSize64 > MaxFile:
		return nil, refuse(f.Name, fmt.Sprintf("is larger than %d bytes", MaxFile))
	}
	raw, err := f.OpenRaw()
	if err != nil {
		return nil, refuse(f.Name, "cannot be read; pack the folder again")
	}
	if f.Method == zip.Deflate {
		raw = flate.NewReader(raw)
	}
	// The size in the directory of the archive is a promise only.
	content, err := io.ReadAll(io.LimitReader(raw, int64(f.UncompressedSize64)+1))
	switch {
	case uint64(len(content)) > f.UncompressedSize64:
		return nil, refuse(f.Name, "is larger than the archive says")
	case err != nil || uint64(len(content)) != f.UncompressedSize64 || crc32.ChecksumIEEE(content) != f.CRC32:
		return nil, refuse(f.Name, "is damaged; pack the folder again")
	}
	return content, nil
}

// WriteZip writes a tree as a zip archive. Equal trees give equal bytes: files are sorted by path and
// have no times.
func WriteZip(w io.Writer, t Tree) error {
	z := zip.NewWriter(w)
	for _, name := range t.Paths() {
		f, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
		if err != nil {
			return err
		}
		if _, err := f.Write(t[name]); err != nil {
			return err
		}
	}
	return z.Close()
}
