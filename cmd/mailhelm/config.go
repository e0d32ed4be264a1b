package main

import (
	"fmt"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/settings"
)

type configCommand struct {
	settings.Settings
	JSON bool `help:"Print one JSON object."`
}

// Help is shown below the summary.
func (configCommand) Help() string {
	return `Takes the same flags, variables and file as 'mailhelm serve' and shows what comes out, with secrets hidden.

Examples:

    mailhelm config --config /etc/mailhelm.toml
    MAILHELM_PORT=7000 mailhelm config --json`
}

// Run prints the configuration.
func (c *configCommand) Run(p *program) error {
	values := append(p.sources.Report(p.parsed, c.Derived()), thisProcess().collector().shown...)
	if c.JSON {
		return p.printJSON(struct {
			File     string           `json:"file"`
			Settings []settings.Value `json:"settings"`
		}{p.sources.File(), values})
	}
	rows := make([][]string, len(values))
	for i, v := range values {
		rows[i] = []string{v.Name, v.Value, v.Source}
	}
	if err := p.printTable("", rows); err != nil {
		return err
	}
	if err := c.Host().Check(); err != nil {
		_, err = fmt.Fprintf(p.stdout, "\nThis configuration would not start: %v\n", err)
		return err
	}
	return nil
}
