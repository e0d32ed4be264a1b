package bundle

import (
	"fmt"
	"slices"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/bundles/manifest"
)

// Validate is `mailhelm bundle validate`.
type Validate struct {
	folder
	JSON bool `help:"Print one JSON object." once:""`
}

// Help returns the text that --help shows below the summary.
func (Validate) Help() string {
	return `Checks what needs no server, and prints all faults at once as file:line:column: severity: message: the manifest and the files that it names, the syntax of predicates, workflows and templates, and test data. Whether attributes, topics, lists and templates exist is checked by 'mailhelm bundle plan', which asks the organization.

Symbolic links, other special files, and files or folders above the limits are refused by name: 2000 files, 5 MB for a file, 64 KiB for mailhelm.json.

Exit status: 0 valid, even with warnings; 1 there are errors, or the folder cannot be read; 2 the command line is wrong.

Examples:

    mailhelm bundle validate definitions
    mailhelm bundle validate . --json | jq -r '.diagnostics[] | "\(.path):\(.line) \(.message)"'`
}

// validated is the object that `mailhelm bundle validate --json` prints. Scripts rely on its members.
type validated struct {
	Valid       bool                     `json:"valid"`
	Definitions map[string]int           `json:"definitions"`
	Diagnostics []definitions.Diagnostic `json:"diagnostics"`
}

// Run checks the folder.
func (c *Validate) Run(p *cli.Program) error {
	tree, err := c.read(p)
	if err != nil {
		return err
	}
	result := manifest.Read(tree)
	v := validated{Valid: true, Definitions: map[string]int{}, Diagnostics: check(result)}
	for _, kind := range definitions.Kinds() {
		if n := len(result.Set.Items(kind)); n > 0 {
			v.Definitions[string(kind.Section())] = n
		}
	}
	s := screen{p.Stdout, p.Colour(), c.folder}
	for _, d := range v.Diagnostics {
		v.Valid = v.Valid && d.Severity != definitions.Error
		if !c.JSON {
			s.diagnostic("", d)
		}
	}
	if c.JSON {
		err = p.PrintJSON(v)
	} else if v.Valid {
		_, err = fmt.Fprintf(p.Stdout, "%s: valid, %s; names not checked\n", c.Folder, countOf(&result.Set))
	}
	if err == nil && !v.Valid {
		return cli.ErrReported
	}
	return err
}

// countOf says how many definitions a set has.
func countOf(set *definitions.Set) string {
	n := 0
	for _, kind := range definitions.Kinds() {
		n += len(set.Items(kind))
	}
	if n == 1 {
		return "1 definition"
	}
	return fmt.Sprintf("%d definitions", n)
}

// kindsIn returns the kinds that a set declares.
func kindsIn(set *definitions.Set) []definitions.Kind {
	return slices.DeleteFunc(definitions.Kinds(), func(k definitions.Kind) bool { return !set.Declared[k] })
}
