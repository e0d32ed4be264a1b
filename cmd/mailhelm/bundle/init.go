package bundle

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
)

// exampleFiles has the bundle that Init writes.
//
//go:embed example
var exampleFiles embed.FS

// example returns the files of the bundle that Init writes.
func example() (archive.Tree, error) {
	below, err := fs.Sub(exampleFiles, "example")
	if err != nil {
		return nil, err
	}
	return archive.ReadFolder(below)
}

// Init is `mailhelm bundle init`.
type Init struct {
	Folder string `arg:"" help:"Folder to write into. It is created if it does not exist."`
}

// Help returns the text that --help shows below the summary.
func (Init) Help() string {
	return `Writes a small bundle with one definition of most kinds, and a README.md that explains each file. No file is overwritten: if one of them exists, nothing is written. To begin with the definitions of your organization, use 'mailhelm bundle export'.

Exit status: 0 written; 1 a file exists or cannot be written; 2 the command line is wrong.

Example:

    mailhelm bundle init definitions && mailhelm bundle validate definitions`
}

// openFolder opens a folder to write files into, and creates it if it does not exist.
func openFolder(name string) (*os.Root, error) {
	if err := os.MkdirAll(name, 0o777); err != nil { //nolint:gosec // the umask of the person applies
		return nil, err
	}
	return os.OpenRoot(name)
}

// Run writes the files.
func (c *Init) Run(p *cli.Program) error {
	tree, err := example()
	if err != nil {
		return err
	}
	root, err := openFolder(c.Folder)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // each file was closed
	var there []string
	for _, name := range tree.Paths() {
		if _, err := root.Lstat(name); err == nil {
			there = append(there, name)
		}
	}
	if len(there) > 0 {
		return fmt.Errorf("nothing was written, because the folder %s has %s already: name another folder", c.Folder, core.QuotedList(there[:min(len(there), maxNamed)]))
	}
	for _, name := range tree.Paths() {
		if err := create(root, name, tree[name]); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(p.Stdout, "%s: %d files written. Read README.md in it, then run:\n\n    mailhelm bundle validate %[1]s\n    mailhelm bundle plan %[1]s\n", c.Folder, len(tree))
	return err
}

// create writes a file that does not exist.
func create(root *os.Root, name string, content []byte) error {
	if err := root.MkdirAll(path.Dir(name), 0o777); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}
