package main

import (
	"github.com/mailhelm/mailhelm/cmd/mailhelm/doctor"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/settings"
)

type doctorCommand struct {
	settings.Settings
	JSON bool `help:"Print one JSON object."`
}

// Help is shown below the summary.
func (doctorCommand) Help() string {
	return `Takes the same flags, variables and file as 'mailhelm serve', changes nothing, and says of each part whether it is ok, worth a look (warn) or broken (fail). The exit status is 1 when something is broken.

Examples:

    mailhelm doctor --data /var/lib/mailhelm
    mailhelm doctor --config /etc/mailhelm.toml --json`
}

// Run checks the configuration.
func (c *doctorCommand) Run(p *program) error {
	log, err := p.logger("error")
	if err != nil {
		return err
	}
	cfg := c.Host()
	cfg.Log = log
	report := doctor.Examine(p.ctx, cfg, p.sources.File())
	if c.JSON {
		err = p.printJSON(report)
	} else {
		err = p.printReport(report)
	}
	if err == nil && report.Status == doctor.Fail {
		return errReported
	}
	return err
}

func (p *program) printReport(report doctor.Report) error {
	var rows [][]string
	for _, check := range report.Checks {
		rows = append(rows, []string{string(check.Status), check.Name, check.Detail})
		if check.Next != "" {
			rows = append(rows, []string{"", "", "-> " + check.Next})
		}
	}
	return p.printTable("", rows)
}
