package workflowfiles

import (
	"fmt"
	"io"
	"os"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/workflowfiles/review"
	"github.com/mailhelm/mailhelm/core/workflows/diagram"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// Explain is `mailhelm explain`.
type Explain struct {
	File string `arg:"" help:"File with a workflow; - for standard input."`
	SVG  string `name:"svg" help:"Draw the workflow into this file, as SVG for browsers." placeholder:"FILE" once:""`
	JSON bool   `help:"Print one JSON object."`
}

// Help returns the text that --help shows below the summary.
func (Explain) Help() string {
	return `Says in English what a workflow does: who enters, who leaves early, and each step with its path. A path names a step in results and logs: 3.then.0 is the first step in the first arm of the fourth step.

With --svg the command also draws the workflow. The drawing needs no script, and follows the light or dark mode of the browser.

Names are not checked: see 'mailhelm check'. The exit status is 1 if the file has faults, which are printed as file:line:column: message.

Examples:

    mailhelm explain welcome.workflow
    mailhelm explain welcome.workflow --svg welcome.svg
    mailhelm explain - --json < welcome.workflow`
}

// printedExplanation is the object that `mailhelm explain --json` prints. Scripts rely on
// its members. Errors is empty if the file is valid; the other members are then set.
type printedExplanation struct {
	File   string  `json:"file"`
	Errors []fault `json:"errors"`
	*language.Explanation
	SVGFile string `json:"svg_file,omitempty"`
}

// Run prints the explanation and writes the drawing.
func (c *Explain) Run(p *cli.Program) error {
	source, err := read(p.Stdin, c.File)
	if err != nil {
		return err
	}
	r := review.Source(source, nil)
	if r.Tree == nil {
		return c.refuse(p, r)
	}
	if c.SVG != "" {
		if err := os.WriteFile(c.SVG, []byte(diagram.Draw(r.Tree, diagram.Options{})), 0o644); err != nil { //nolint:gosec // a drawing for others to see
			return err
		}
	}
	words := r.Tree.Explain()
	if c.JSON {
		return p.PrintJSON(printedExplanation{c.File, []fault{}, &words, c.SVG})
	}
	_, err = io.WriteString(p.Stdout, words.String())
	return err
}

// refuse prints the faults of a file.
func (c *Explain) refuse(p *cli.Program, r review.Result) error {
	if c.JSON {
		if err := p.PrintJSON(printedExplanation{File: c.File, Errors: errorsOf(r)}); err != nil {
			return err
		}
		return cli.ErrReported
	}
	for _, line := range lines(c.File, r) {
		fmt.Fprintln(p.Stderr, line)
	}
	return cli.ErrReported
}
