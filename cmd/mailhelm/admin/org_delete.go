package admin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles"
	"github.com/mailhelm/mailhelm/core/closing"
	closingstore "github.com/mailhelm/mailhelm/storage/closing"
)

// orgClosing returns the operations that delete and restore organizations. A running server
// applies a change within five seconds.
func orgClosing(s *installation.Session) closing.Organizations {
	return closing.Organizations{
		Store: closingstore.NewOrgStore(s.DB.DB), Orgs: s.DB.Orgs(), Members: s.DB.Members(), Audit: s.DB.Audit(), Transactor: s.DB, Clock: s.Config.Clock,
	}
}

// orgDelete is `mailhelm admin org delete`.
type orgDelete struct {
	installation.Target
	Org      string `arg:"" help:"Slug or id."`
	Export   string `help:"Write the export to this file, which must not exist. Default: mailhelm-SLUG-DATE.zip in the current folder." placeholder:"FILE" once:"" xor:"export"`
	NoExport bool   `help:"Write no export." once:"" xor:"export"`
	DryRun   bool   `help:"Print the rows that would be erased, by table, and change nothing." once:""`
	Yes      bool   `help:"Delete without a question. Needed without a terminal." once:""`
}

// Help returns the text that --help shows below the summary.
func (orgDelete) Help() string {
	return `First an export is written: a zip archive with the definitions as a bundle, and contacts, members of lists, choices about topics, suppressed and undeliverable addresses and the message log as JSON lines.

Then the organization is deleted. Its keys, applications and tokens are refused, its pages show only that it was deleted, and no mail is sent or received. A running server applies this within five seconds. Links with which recipients unsubscribe still work.

For seven days, 'mailhelm admin org restore' or an owner on the dashboard restores it. Then a job erases every row, the stored mail and images, and the simulated account. The slug can be used again afterwards.

Examples:

    mailhelm admin org delete acme --dry-run
    mailhelm admin org delete acme --export acme.zip --yes
    mailhelm admin org restore acme`
}

// deletedOrgJSON is the form in which --json prints a deleted or restored organization.
type deletedOrgJSON struct {
	ID        string     `json:"id"`
	Slug      string     `json:"slug"`
	DryRun    bool       `json:"dry_run,omitempty"`
	DeletedAt *time.Time `json:"deleted_at"`
	// EraseAt is the time from which all data is erased; null for an organization that is not
	// deleted.
	EraseAt *time.Time `json:"erase_at"`
	// Export is the path of the export, and Exported the number of its rows by file.
	Export   string         `json:"export,omitempty"`
	Exported map[string]int `json:"exported,omitempty"`
	// Tables are the numbers of the organization's rows by table, for a dry run.
	Tables []closing.TableRows `json:"tables,omitempty"`
}

// newDeletedOrgJSON returns the printed form of an organization.
func newDeletedOrgJSON(org core.Org) deletedOrgJSON {
	shown := deletedOrgJSON{ID: org.ID, Slug: org.Slug, DeletedAt: org.DeletedAt}
	if org.IsDeleted() {
		at := org.EraseAt()
		shown.EraseAt = &at
	}
	return shown
}

// printDeletedOrg prints a deleted or restored organization.
func printDeletedOrg(s *installation.Session, shown deletedOrgJSON, done string) error {
	if s.JSON {
		return s.PrintJSON(shown)
	}
	rows := [][]string{{done, shown.Slug}, {"id", shown.ID}}
	if shown.EraseAt != nil {
		rows = append(rows, []string{"erased from", installation.Instant(shown.EraseAt)}, []string{"", "Until then: mailhelm admin org restore " + shown.Slug})
	}
	if shown.Export != "" {
		rows = append(rows, []string{"export", shown.Export})
	}
	for _, t := range shown.Tables {
		if t.Rows > 0 {
			rows = append(rows, []string{"rows of " + t.Table, strconv.Itoa(t.Rows)})
		}
	}
	return s.PrintTable("", rows)
}

// Run writes the export and deletes the organization. Without --yes it first asks for the slug.
func (c *orgDelete) Run(p *cli.Program) error {
	return c.WithOrg(p, c.Org, func(ctx context.Context, s *installation.Session, org core.Org) error {
		if c.DryRun {
			tables, err := closingstore.NewOrgStore(s.DB.DB).CountRows(ctx, org.ID)
			if err != nil {
				return err
			}
			shown := newDeletedOrgJSON(org)
			shown.DryRun, shown.Tables = true, tables
			return printDeletedOrg(s, shown, "would delete")
		}
		if org.IsDeleted() {
			return fmt.Errorf("the organization %s was deleted before: its data is erased from %s", org.Slug, org.EraseAt().Format(time.RFC3339))
		}
		if err := c.agree(s, org); err != nil {
			return err
		}
		var file string
		var rows map[string]int
		if !c.NoExport {
			var err error
			if file, rows, err = c.export(ctx, s, org); err != nil {
				return fmt.Errorf("export: %w; the organization was not deleted", err)
			}
		}
		deleted, err := orgClosing(s).Delete(ctx, s.Operator().Actor, org.ID)
		if err != nil {
			return err
		}
		shown := newDeletedOrgJSON(deleted)
		shown.Export, shown.Exported = file, rows
		return printDeletedOrg(s, shown, "deleted")
	})
}

// agree asks a person to type the slug, unless --yes was given. It fails for another text, and
// without a terminal.
func (c *orgDelete) agree(s *installation.Session, org core.Org) error {
	if c.Yes {
		return nil
	}
	if s.JSON || !s.CanAsk() {
		return errors.New("give --yes, because no person can be asked")
	}
	if _, err := fmt.Fprintf(s.Stdout, "Type %s to delete this organization: ", org.Slug); err != nil {
		return err
	}
	var typed string
	if _, err := fmt.Fscanln(s.Stdin, &typed); err != nil || typed != org.Slug {
		return fmt.Errorf("%q is not the slug: nothing was deleted", typed)
	}
	return nil
}

// export writes the export to a new file that only this user can read. It returns the path and
// the number of rows by file. It removes an incomplete file.
func (c *orgDelete) export(ctx context.Context, s *installation.Session, org core.Org) (string, map[string]int, error) {
	name := c.Export
	if name == "" {
		name = "mailhelm-" + org.Slug + "-" + s.Config.Clock().UTC().Format("2006-01-02") + ".zip"
	}
	file, err := os.OpenFile(filepath.Clean(name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", nil, err
	}
	store := closingstore.NewExportStore(s.DB.DB)
	total, err := store.CountExport(ctx, org.ID)
	if err != nil {
		return "", nil, errors.Join(err, file.Close(), os.Remove(name))
	}
	line := cli.NewProgress(s.Stderr, int64(total), s.Config.Clock)
	rows, err := closing.Export{
		Rows: store, Clock: s.Config.Clock, Progress: func(file string, rows int) { line.Show(int64(rows), file) },
		Definitions: bundles.Files(s.DB.Bundles()),
	}.Write(ctx, file, org)
	line.End()
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return "", nil, errors.Join(err, os.Remove(name))
	}
	return name, rows, nil
}

// orgRestore is `mailhelm admin org restore`.
type orgRestore struct {
	installation.Target
	Org string `arg:"" help:"Slug or id."`
}

// Run restores a deleted organization. Its keys and applications work again, and mail that
// waits is sent.
func (c *orgRestore) Run(p *cli.Program) error {
	return c.WithOrg(p, c.Org, func(ctx context.Context, s *installation.Session, org core.Org) error {
		restored, err := orgClosing(s).Restore(ctx, s.Operator().Actor, org.ID)
		if err != nil {
			return err
		}
		return printDeletedOrg(s, newDeletedOrgJSON(restored), "restored")
	})
}
