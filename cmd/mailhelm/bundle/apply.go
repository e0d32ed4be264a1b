package bundle

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
	"github.com/mailhelm/mailhelm/core/bundles/plan"
)

// Apply is `mailhelm bundle apply`.
type Apply struct {
	server
	folder
	Prune bool `help:"Also archive or delete what the sections of the bundle leave out. Sections that the manifest does not have stay as they are." once:""`
	Yes   bool `help:"Apply the plan without a question. Needed without a terminal, such as in continuous integration." once:""`
	JSON  bool `help:"Print the answer of the server as one JSON object. Needs --yes." once:""`
}

// Help returns the text that --help shows below the summary.
func (Apply) Help() string {
	return `Shows the plan as 'mailhelm bundle plan' does, asks, and applies it. Kinds are applied in the order in which they need each other: attributes first, workflows last. Templates become drafts or versions as their own rules say, and no workflow is activated.

If a kind fails, the kinds before it stay applied. The command says which, and why it stopped. Correct the cause and run it again: what is applied already stays unchanged.

Exit status: 0 the organization has the definitions of the folder; 1 the plan has errors, was declined, or was applied in part, the server refused the call or does not answer; 2 the command line is wrong.

Examples:

    mailhelm bundle apply definitions
    mailhelm bundle apply definitions --prune --yes`
}

// Run shows the plan and applies it.
func (c *Apply) Run(p *cli.Program) error {
	if c.JSON && !c.Yes {
		return errors.New("--json needs --yes, because a question would be mixed with the JSON object")
	}
	tree, err := c.read(p)
	if err != nil {
		return err
	}
	s := screen{p.Stdout, p.Colour(), c.folder}
	if !c.JSON {
		if agreed, err := c.agree(p, s, tree); !agreed || err != nil {
			return err
		}
	}
	read, answer, err := c.post(p, tree, false, c.Prune)
	if err != nil {
		return err
	}
	if c.JSON {
		if err := p.PrintJSON(json.RawMessage(answer)); err != nil {
			return err
		}
	} else {
		s.outcome(read)
	}
	if !read.Applied {
		return cli.ErrReported
	}
	return nil
}

// agree shows the plan, and asks whether to apply it. It returns false with no error if nothing is to be
// changed.
func (c *Apply) agree(p *cli.Program, s screen, tree archive.Tree) (bool, error) {
	read, _, err := c.post(p, tree, true, c.Prune)
	if err != nil {
		return false, err
	}
	s.plan(&read.Plan)
	switch {
	case !read.Plan.Applicable:
		return false, cli.ErrReported
	case changes(&read.Plan) == 0:
		return false, nil
	case c.Yes:
		return true, nil
	case !p.CanAsk():
		return false, errors.New("nothing was applied, because standard input is no terminal on which a person could answer: add --yes")
	}
	s.printf("\nApply these changes to the organization at %s? Only \"yes\" applies them: ", c.Server)
	line, _ := bufio.NewReader(p.Stdin).ReadString('\n')
	if strings.TrimSpace(line) != "yes" {
		return false, errors.New("nothing was applied")
	}
	return true, nil
}

// done are the names of actions that were carried out.
var done = map[plan.Action]string{plan.Create: "created", plan.Update: "updated", plan.Archive: "archived", plan.Delete: "deleted"}

// outcome writes what an import did.
func (s screen) outcome(read *imported) {
	numbers := map[plan.Action]int{}
	for _, o := range read.Objects {
		numbers[o.Action]++
	}
	var parts []string
	for _, action := range counted {
		if n := numbers[action]; n > 0 && done[action] != "" {
			parts = append(parts, fmt.Sprintf("%d %s", n, done[action]))
		}
	}
	summary := strings.Join(parts, ", ")
	switch {
	case read.Applied && summary == "":
		s.printf("%s Nothing had to be changed.\n", s.in(bold, "Applied."))
	case read.Applied:
		s.printf("%s %s.\n", s.in(bold, "Applied:"), summary)
	case read.Error == "": // the definitions changed after the plan was shown
		s.plan(&read.Plan)
	default:
		s.printf("%s %s\n", s.in(red, "The import stopped:"), core.OnlyVisible(read.Error))
		if read.AppliedUntil != "" {
			s.printf("Applied until %s (applied_until)", strings.ReplaceAll(core.OnlyVisible(read.AppliedUntil), "_", " "))
			if summary != "" {
				s.printf(": %s", summary)
			}
			s.printf(".\n")
		} else {
			s.printf("Nothing was applied.\n")
		}
		s.printf("Correct the cause and run the command again. What is applied stays unchanged.\n")
	}
}
