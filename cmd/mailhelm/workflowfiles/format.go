package workflowfiles

import (
	"fmt"
	"io"
	"os"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/workflowfiles/review"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// Format is `mailhelm fmt`.
type Format struct {
	Files []string `arg:"" optional:"" help:"Files, or folders with files *.workflow. Default: - for standard input."`
	Check bool     `help:"Change nothing. List the files that would change, and exit with 1 if there are any." once:""`
	JSON  bool     `help:"Print one JSON object."`
}

// Help returns the text that --help shows below the summary.
func (Format) Help() string {
	return `Writes workflows in their one canonical form: two spaces for each level, one statement a line, the same spelling of times and durations. Comments stay with their statements, and single empty lines stay. Files are replaced in place and the changed ones are listed. Standard input is written to standard output.

A file with faults is not changed. Its faults are printed as file:line:column: message.

The exit status is 0 when every file has its form, and 1 when a file has faults or, with --check, when a file would change.

Examples:

    mailhelm fmt welcome.workflow
    mailhelm fmt --check workflows
    mailhelm fmt < draft.workflow`
}

// formatted is a file in the object that `mailhelm fmt --json` prints. Scripts rely on its
// members.
type formatted struct {
	File    string  `json:"file"`
	Changed bool    `json:"changed"`
	Errors  []fault `json:"errors"`
	// Text is the formatted text of standard input.
	Text string `json:"text,omitempty"`
}

// Run formats the files. It may be repeated: the second run changes nothing.
func (c *Format) Run(p *cli.Program) error {
	if len(c.Files) == 0 {
		c.Files = []string{standardInput}
	}
	all, err := files(c.Files)
	if err != nil {
		return err
	}
	results := []formatted{}
	failed := false
	for _, file := range all {
		f, r, err := c.format(p, file)
		if err != nil {
			return err
		}
		failed = failed || !r.Valid() || c.Check && f.Changed
		results = append(results, f)
		if !c.JSON {
			c.print(p, f, r)
		}
	}
	if c.JSON {
		if err := p.PrintJSON(map[string][]formatted{"files": results}); err != nil {
			return err
		}
	}
	if failed {
		return cli.ErrReported
	}
	return nil
}

// format formats one file and, without --check, replaces it.
func (c *Format) format(p *cli.Program, file string) (formatted, review.Result, error) {
	f := formatted{File: file, Errors: []fault{}}
	source, err := read(p.Stdin, file)
	if err != nil {
		return f, review.Result{}, err
	}
	text, err := language.Format(source)
	if err != nil {
		r := review.Source(source, nil)
		f.Errors = errorsOf(r)
		return f, r, nil
	}
	f.Changed = text != source
	switch {
	case file == standardInput && !c.Check:
		f.Text = text
	case f.Changed && !c.Check:
		return f, review.Result{}, replace(file, text)
	}
	return f, review.Result{}, nil
}

// replace writes the text of a file and keeps its permissions.
func replace(file, text string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), info.Mode().Perm())
}

// print prints the outcome of a file: the text of standard input, the name of a file that
// changed, or the faults.
func (c *Format) print(p *cli.Program, f formatted, r review.Result) {
	for _, line := range lines(f.File, r) {
		fmt.Fprintln(p.Stderr, line)
	}
	switch {
	case f.Text != "":
		_, _ = io.WriteString(p.Stdout, f.Text) // a closed pipe ends the process
	case f.Changed:
		fmt.Fprintln(p.Stdout, f.File)
	}
}
