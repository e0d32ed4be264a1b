package cli

import (
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/alecthomas/kong"
)

// Version is the command that prints the version of the program.
type Version struct {
	JSON bool `help:"Print one JSON object."`
}

// Help returns the text that --help shows below the summary.
func (Version) Help() string {
	return `Prints the version, the commit, the version of Go and the platform. 'mailhelm --version' does the same.

Examples:

    mailhelm version
    mailhelm --version --json`
}

// HelpCommand is the command "help", for the list of commands. Run handles it before the
// command line is parsed.
type HelpCommand struct {
	Command []string `arg:"" optional:"" help:"The command, such as admin user invite."`
}

// VersionFlag is the flag --version, for the help. Run handles it before the command line is
// parsed.
type VersionFlag bool

// BeforeApply refuses the flag after a command, where it would have no effect.
func (VersionFlag) BeforeApply() error {
	return errors.New("--version must be the first word: mailhelm --version")
}

// checkCommand returns an error unless the words are the path of a command in grammar. No
// words are the program itself.
func (p *Program) checkCommand(grammar any, words []string) error {
	parser, err := p.parser(grammar, func(int) {})
	if err != nil {
		return err
	}
	node := parser.Model.Node
	for _, word := range words {
		at := slices.IndexFunc(node.Children, func(child *kong.Node) bool { return child.Name == word })
		if at < 0 {
			return &usageError{command: node.FullPath(), err: fmt.Errorf("%s has no command %q", node.FullPath(), word)}
		}
		node = node.Children[at]
	}
	return nil
}

// Run prints the program's version. With --json it prints an object with the members
// version, commit, go and platform.
func (c *Version) Run(p *Program) error {
	b := Build()
	if c.JSON {
		return p.PrintJSON(struct {
			Version  string `json:"version"`
			Commit   string `json:"commit"`
			Go       string `json:"go"`
			Platform string `json:"platform"`
		}{b.Version, b.Commit, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH})
	}
	_, err := fmt.Fprintf(p.Stdout, "mailhelm %s, commit %s, %s %s/%s\n", b.Version, b.Commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
