package bundle

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
)

// Command is `mailhelm bundle`.
type Command struct {
	Init     Init     `cmd:"" help:"Write a small example into a folder."`
	Validate Validate `cmd:"" help:"Check the files of a folder, without a server."`
	Plan     Plan     `cmd:"" help:"Show what applying a folder would change."`
	Apply    Apply    `cmd:"" help:"Give the organization the definitions of a folder."`
	Export   Export   `cmd:"" help:"Write the definitions of the organization into a folder."`
	Diff     Diff     `cmd:"" help:"Compare a folder with the organization, line by line."`
}

// Help returns the text that --help shows below the summary.
func (Command) Help() string {
	return `A bundle is a folder with the file mailhelm.json, which names the files of the definitions: attributes, activity properties, lists, segments, topics, images, templates and workflows. People review it and keep it in a version control system. Contacts, memberships and consent are never part of it.

` + "`init`" + ` and ` + "`validate`" + ` need no server. The other commands need its address in MAILHELM_SERVER or --server, and an API key in the variable MAILHELM_API_KEY, with the view scopes of the sections, and for a plan their manage scopes. Files and folders whose names begin with a dot are left out.

Example:

    mailhelm bundle export definitions
    $EDITOR definitions/templates/welcome.hbs
    mailhelm bundle plan definitions
    mailhelm bundle apply definitions`
}

// folder is the argument of commands that read a bundle.
type folder struct {
	Folder string `arg:"" field:"files" help:"Folder with the file mailhelm.json."`
}

// read returns the files of the folder.
func (f folder) read(p *cli.Program) (archive.Tree, error) {
	root, err := os.OpenRoot(f.Folder)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // it was only read
	tree, err := archive.ReadFolder(root.FS())
	if err != nil {
		return nil, f.explain(p, err)
	}
	if _, ok := tree[archive.ManifestPath]; !ok {
		return nil, fmt.Errorf("the folder %s has no file %s: name the folder of a bundle, or write one with 'mailhelm bundle init' or 'mailhelm bundle export'", f.Folder, archive.ManifestPath)
	}
	return tree, nil
}

// explain returns the error about a folder that cannot be a bundle, for a person at a shell.
func (f folder) explain(p *cli.Program, err error) error {
	if refused, ok := errors.AsType[*core.Error](err); ok && len(refused.Fields) == 1 {
		return fmt.Errorf("the folder %s %s", f.Folder, refused.Fields[0].Reason)
	}
	return p.Explain(err)
}

// file returns the path of a file of the bundle for messages, from the folder in which the command was
// started.
func (f folder) file(path string) string { return filepath.Join(f.Folder, filepath.FromSlash(path)) }
