package person

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/privacy"
)

// erase is `mailhelm admin person erase`.
type erase struct {
	target
	Confirm     string   `help:"The address again. Without it the command only counts what it would erase." placeholder:"ADDRESS"`
	ImportFiles []string `name:"import-file" help:"CSV file, such as FILE.rejected.csv of an earlier import, from which rows with the address are removed too. May be repeated." placeholder:"FILE" sep:"none"`
}

// Run erases the person, or counts what it would erase. It may be repeated, also after a
// failure.
func (c *erase) Run(p *cli.Program) error {
	if c.Confirm != "" && core.EmailKey(c.Confirm) != core.EmailKey(c.Address) {
		return fmt.Errorf("--confirm is %s, but the address is %s: write the same address twice", c.Confirm, c.Address)
	}
	return c.on(p, func(ctx context.Context, s session) error {
		dryRun := c.Confirm == ""
		do := s.privacy.Count
		if !dryRun {
			do = func(ctx context.Context, orgID, email string) (privacy.Report, error) {
				return s.privacy.Erase(ctx, operator(), orgID, email)
			}
		}
		report, err := do(ctx, s.org.ID, c.Address)
		if err != nil {
			return p.Explain(err)
		}
		files, err := eraseFromFiles(c.ImportFiles, c.Address, dryRun)
		if err != nil {
			return err
		}
		if err := s.print(report, dryRun, files); err != nil || s.JSON {
			return err
		}
		_, err = fmt.Fprintln(s.Stderr, c.conclusion(report, dryRun))
		return err
	})
}

// conclusion says what was erased and what stays.
func (c *erase) conclusion(r privacy.Report, dryRun bool) string {
	stays := map[privacy.Refusal]string{
		privacy.OptedOut: "The person had opted out", privacy.Complained: "The person had complained", privacy.Bounced: "Mail to the address had bounced",
	}[r.Refuses]
	if stays != "" {
		stays += ": a keyed hash of the address stays, which refuses mail and imports. "
	}
	switch {
	case r.Empty():
		return "Nothing is stored about this address."
	case dryRun:
		return stays + "Nothing was changed. To erase for good, add --confirm " + c.Address + "."
	default:
		return stays + "Erased. Older copies of the database still have the data; delete them, or run 'mailhelm restore-check' after restoring one."
	}
}

// allow is `mailhelm admin person allow`.
type allow struct{ target }

// Run removes the refusal of an erased address.
func (c *allow) Run(p *cli.Program) error {
	return c.on(p, func(ctx context.Context, s session) error {
		if err := s.privacy.Allow(ctx, operator(), s.org.ID, c.Address); err != nil {
			return p.Explain(err)
		}
		if s.JSON {
			return s.PrintJSON(map[string]any{"org_id": s.org.ID, "allowed": true})
		}
		return s.PrintTable("", [][]string{{"allowed", c.Address}})
	})
}
