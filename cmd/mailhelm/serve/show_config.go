package serve

import (
	"fmt"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/memory"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/settings"
)

// ShowSettings is `mailhelm config`. It opens no database and contacts no other program.
type ShowSettings struct {
	config.Settings
	JSON bool `help:"Print one JSON object."`
}

// Help returns the text that --help shows below the summary.
func (ShowSettings) Help() string {
	return `Takes the same flags, variables and file as 'mailhelm serve' and prints the resulting values. Secrets are hidden.

Examples:

    mailhelm config --config /etc/mailhelm.toml
    MAILHELM_PORT=7000 mailhelm config --json`
}

// Run prints the settings and their sources. If a server would not start with them, it
// prints the reason after the table, but not with --json. The exit status is 0 even then;
// `mailhelm doctor` fails in that case.
func (c *ShowSettings) Run(p *cli.Program) error {
	values := append(p.Sources.Report(p.Parsed, c.DerivedValues()), memory.Settings(c.Server())...)
	if c.JSON {
		return p.PrintJSON(struct {
			File     string           `json:"file"`
			Settings []settings.Value `json:"settings"`
		}{p.Sources.File(), values})
	}
	rows := make([][]string, len(values))
	for i, v := range values {
		rows[i] = []string{v.Name, v.Value, v.Source}
	}
	if err := p.PrintTable("", rows); err != nil {
		return err
	}
	if err := c.Server().Check(); err != nil {
		_, err = fmt.Fprintf(p.Stdout, "\nThis configuration would not start: %v%s\n", err, p.Sources.Origins(err.Error()))
		return err
	}
	return nil
}
