package archive

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// ReadFolder reads the files of a folder, such as [os.Root.FS]. It leaves out files and folders whose
// names begin with a dot, such as .git. It fails with core.CodeValidationFailed, and names the file, for
// a folder that no bundle can be: one with symbolic links, devices, or more or larger files than the
// limits allow. Other errors are those of the file system.
func ReadFolder(folder fs.FS) (Tree, error) {
	b := NewBuilder()
	err := fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == ".":
			return nil
		case strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.Type()&fs.ModeSymlink != 0:
			return refuse(name, "is a symbolic link; put the file itself there")
		case entry.IsDir():
			return nil
		case !entry.Type().IsRegular():
			return refuse(name, "is no regular file; move it out of the folder")
		}
		content, err := readFile(folder, name)
		if err != nil {
			return err
		}
		return b.Add(name, content)
	})
	if err != nil {
		return nil, err
	}
	return b.Tree(), nil
}

// readFile reads a regular file, at most one byte more than a bundle's file may have.
func readFile(folder fs.FS, name string) (content []byte, err error) {
	f, err := folder.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	// The file can be another one than the walk saw.
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, refuse(name, "is no regular file; move it out of the folder")
	case info.Size() > MaxFile:
		return nil, refuse(name, fmt.Sprintf("is larger than %d bytes", MaxFile))
	}
	return io.ReadAll(io.LimitReader(f, MaxFile+1))
}
