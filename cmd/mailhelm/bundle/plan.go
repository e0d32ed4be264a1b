package bundle

import (
	"encoding/json"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
)

// Plan is `mailhelm bundle plan`.
type Plan struct {
	server
	folder
	Prune bool `help:"Also archive or delete what the sections of the bundle leave out. Sections that the manifest does not have stay as they are." once:""`
	JSON  bool `help:"Print the answer of the server as one JSON object." once:""`
}

// Help returns the text that --help shows below the summary.
func (Plan) Help() string {
	return `Sends the folder to the server, which compares it with the definitions of the organization and changes nothing. The plan has a line for each definition that would change, by kind:

    + create   ~ update   - archive or delete   = stays, with the reason   ! invalid

Errors and warnings stand below their definitions as file:line:column: message. Colours are used on a terminal, unless NO_COLOR is set.

` + exitText + `

Examples:

    mailhelm bundle plan definitions --server https://api.example.com
    mailhelm bundle plan definitions --prune
    mailhelm bundle plan definitions --json | jq '.plan.objects[] | select(.action != "unchanged") | .key'`
}

// exitText explains the exit status in the help of commands that compare.
const exitText = `Exit status: 0 nothing differs; 1 the folder has errors, the server refused the call or does not answer; 2 something differs, or the command line is wrong, about which a message is on standard error.`

// Run prints the plan.
func (c *Plan) Run(p *cli.Program) error {
	tree, err := c.read(p)
	if err != nil {
		return err
	}
	read, answer, err := c.post(p, tree, true, c.Prune)
	if err != nil {
		return err
	}
	if c.JSON {
		err = p.PrintJSON(json.RawMessage(answer))
	} else {
		screen{p.Stdout, p.Colour(), c.folder}.plan(&read.Plan)
	}
	switch {
	case err != nil:
		return err
	case !read.Plan.Applicable:
		return cli.ErrReported
	case changes(&read.Plan) > 0:
		return cli.ErrChanges
	}
	return nil
}
