package storagetest

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// FolderTemplate is a data folder that is made once in a process, because that takes longer
// than most tests. Each test gets a copy of its files.
type FolderTemplate struct{ files func() ([]file, error) }

// file is a file of a FolderTemplate.
type file struct {
	name    string
	mode    os.FileMode
	content []byte
}

// NewFolderTemplate returns a template of the folder that fill fills. fill gets the path of
// an empty folder. When it returns, the folder must have no subfolders and no open database.
func NewFolderTemplate(fill func(dir string) error) *FolderTemplate {
	return &FolderTemplate{sync.OnceValues(func() (files []file, err error) {
		dir, err := os.MkdirTemp(temporary(), "mailhelm-template-")
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		if err := fill(dir); err != nil {
			return nil, err
		}
		return readFiles(dir)
	})}
}

// CopyTo writes the files of the template to an existing folder, with their permissions. It
// fails the test if the template cannot be made.
func (f *FolderTemplate) CopyTo(tb testing.TB, dir string) {
	tb.Helper()
	files, err := f.files()
	for _, file := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, file.name), file.content, file.mode))
	}
	if err != nil {
		tb.Fatalf("storagetest: folder template: %v", err)
	}
}

// readFiles returns the files in a folder.
func readFiles(dir string) ([]file, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []file
	for _, entry := range entries {
		info, infoErr := entry.Info()
		content, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err := errors.Join(infoErr, err); err != nil {
			return nil, err
		}
		files = append(files, file{entry.Name(), info.Mode().Perm(), content})
	}
	return files, nil
}
