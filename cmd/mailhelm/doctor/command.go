package doctor

import (
	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
)

// Command is `mailhelm doctor`.
type Command struct {
	config.Settings
	JSON bool `help:"Print one JSON object."`
}

// Help returns the text that --help shows below the summary.
func (Command) Help() string {
	return `Takes the same flags, variables and file as 'mailhelm serve' and reports for each part whether it is ok, needs attention (warn) or is broken (fail), with the next step. It changes nothing. The exit status is 1 when a part is broken.

Examples:

    mailhelm doctor --data /var/lib/mailhelm
    mailhelm doctor --config /etc/mailhelm.toml --json`
}

// Run checks the configuration and prints a report. The exit status is 1 if a check fails,
// and 0 if there are only warnings. Run changes nothing, and may be used while a server
// runs.
func (c *Command) Run(p *cli.Program) error {
	log, err := p.Logger("error")
	if err != nil {
		return err
	}
	cfg := c.Server()
	cfg.Log = log
	report := Examine(p.Ctx, cfg, p.Sources.File())
	for i, check := range report.Checks {
		if check.Status != OK {
			report.Checks[i].Detail += p.Sources.Origins(check.Detail)
		}
	}
	if c.JSON {
		err = p.PrintJSON(report)
	} else {
		err = printReport(p, report)
	}
	if err == nil && report.Status == Fail {
		return cli.ErrReported
	}
	return err
}

// printReport prints one table row for each check: status, name and detail. If a check
// proposes a next step, a second row below it shows the step.
func printReport(p *cli.Program, report Report) error {
	var rows [][]string
	for _, check := range report.Checks {
		rows = append(rows, []string{string(check.Status), check.Name, check.Detail})
		if check.Next != "" {
			rows = append(rows, []string{"", "", "-> " + check.Next})
		}
	}
	return p.PrintTable("", rows)
}
