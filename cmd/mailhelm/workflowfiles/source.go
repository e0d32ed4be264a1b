package workflowfiles

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// extension is the extension of files with a workflow.
const extension = ".workflow"

// standardInput is the name that stands for standard input.
const standardInput = "-"

// files returns the files that arguments name. A folder stands for the files with the
// extension in it and in its folders, in the order of their paths. It fails for a folder
// without such files.
func files(arguments []string) ([]string, error) {
	var all []string
	for _, name := range arguments {
		if name == standardInput {
			all = append(all, name)
			continue
		}
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			all = append(all, name)
			continue
		}
		inside, err := filesIn(name)
		if err != nil {
			return nil, err
		}
		if len(inside) == 0 {
			return nil, fmt.Errorf("%s has no file *%s", name, extension)
		}
		all = append(all, inside...)
	}
	return all, nil
}

func filesIn(folder string) ([]string, error) {
	var all []string
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && filepath.Ext(path) == extension {
			all = append(all, path)
		}
		return err
	})
	return all, err
}

// read returns the content of a file, or of standard input. It reads at most one byte more
// than a source may have, so that the parser refuses a longer one.
func read(stdin io.Reader, name string) (string, error) {
	from := io.NopCloser(stdin)
	if name != standardInput {
		file, err := os.Open(name)
		if err != nil {
			return "", err
		}
		from = file
	}
	text, err := io.ReadAll(io.LimitReader(from, language.MaxSource+1))
	return string(text), errors.Join(err, from.Close())
}
