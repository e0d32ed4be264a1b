package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
)

// Export is `mailhelm bundle export`.
type Export struct {
	server
	Folder string `arg:"" help:"Folder to write into. It is created if it does not exist."`
	Force  bool   `help:"Overwrite files whose content differs." once:""`
	JSON   bool   `help:"Print one JSON object." once:""`
}

// Help returns the text that --help shows below the summary.
func (Export) Help() string {
	return `Writes the definitions of the organization into files, in the layout of a bundle. Equal definitions give equal files, so that version control shows changes only.

A file that exists and has another content is overwritten with --force only; without it nothing is written at all. Each file is replaced as a whole. No file is deleted: 'git status' shows what an export no longer has.

Sections that the API key may not read are left out and named. Planning with --prune touches sections of the manifest only, so it never deletes what was left out.

Exit status: 0 written; 1 a file would be overwritten, the server refused the call or does not answer; 2 the command line is wrong.

Examples:

    mailhelm bundle export definitions
    mailhelm bundle export definitions --force && git diff`
}

// exported is the object that `mailhelm bundle export --json` prints. Scripts rely on its members.
type exported struct {
	Created   []string `json:"created"`
	Replaced  []string `json:"replaced"`
	Unchanged int      `json:"unchanged"`
	Omitted   []string `json:"omitted"`
}

// Run writes the files.
func (c *Export) Run(p *cli.Program) error {
	tree, omitted, err := c.export(p)
	if err != nil {
		return err
	}
	root, err := openFolder(c.Folder)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // each file was closed
	e, err := compare(root, tree)
	if err != nil {
		return err
	}
	if omitted != "" {
		e.Omitted = strings.Split(omitted, ", ")
	}
	if len(e.Replaced) > 0 && !c.Force {
		return fmt.Errorf("nothing was written, because %s another content in %s: keep what you need, and add --force", filesHave(e.Replaced), c.Folder)
	}
	for _, name := range append(e.Created, e.Replaced...) {
		if err := write(root, name, tree[name]); err != nil {
			return err
		}
	}
	if c.JSON {
		return p.PrintJSON(e)
	}
	_, err = fmt.Fprintf(p.Stdout, "%s: %d files created, %d replaced, %d unchanged\n", c.Folder, len(e.Created), len(e.Replaced), e.Unchanged)
	if omitted != "" && err == nil {
		_, err = fmt.Fprintf(p.Stdout, "Left out, because the API key lacks their view scopes: %s\n", omitted)
	}
	return err
}

// maxNamed is the number of files that a message names.
const maxNamed = 5

// filesHave returns the names of files with the verb of a sentence about them.
func filesHave(names []string) string {
	text := core.QuotedList(names[:min(len(names), maxNamed)])
	switch more := len(names) - maxNamed; {
	case more > 0:
		return fmt.Sprintf("%s and %d more have", text, more)
	case len(names) > 1:
		return text + " have"
	}
	return text + " has"
}

// compare returns which files of a tree a folder does not have, or has with another content.
func compare(root *os.Root, tree archive.Tree) (exported, error) {
	e := exported{Created: []string{}, Replaced: []string{}, Omitted: []string{}}
	for _, name := range tree.Paths() {
		info, err := root.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			e.Created = append(e.Created, name)
			continue
		case err != nil:
			return e, err
		case !info.Mode().IsRegular():
			return e, fmt.Errorf("nothing was written, because %s is no regular file: move it away", core.Quote(name))
		}
		before, err := root.ReadFile(name)
		switch {
		case err != nil:
			return e, err
		case bytes.Equal(before, tree[name]):
			e.Unchanged++
		default:
			e.Replaced = append(e.Replaced, name)
		}
	}
	return e, nil
}

// write replaces a file as a whole: a reader sees the content before or after. It does not follow links
// that lead out of the folder.
func write(root *os.Root, name string, content []byte) error {
	if err := root.MkdirAll(path.Dir(name), 0o777); err != nil {
		return err
	}
	// The name begins with a dot, so that a file that is left after a crash is not read as part of
	// the bundle.
	temporary := path.Join(path.Dir(name), "."+path.Base(name)+".new")
	if err := root.WriteFile(temporary, content, 0o666); err != nil {
		return errors.Join(err, root.Remove(temporary))
	}
	if err := root.Rename(temporary, name); err != nil {
		return errors.Join(err, root.Remove(temporary))
	}
	return nil
}
