package orgs

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/core/orgmove"
	"github.com/mailhelm/mailhelm/core/passwords"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/signing"
	movestore "github.com/mailhelm/mailhelm/storage/orgmove"
)

// importCommand is `mailhelm org import`.
type importCommand struct {
	target
	Archive      string `arg:"" help:"File that 'mailhelm org export' wrote."`
	IdentityFile string `help:"File with the private key of age for which the archive was encrypted." placeholder:"FILE" once:""`
	Slug         string `help:"Slug in this installation. Default: the one in the archive." placeholder:"SLUG" once:""`
	JoinExisting bool   `help:"Make people members whom this installation knows by their address. Without it the command lists them." once:""`
}

// Help returns the text that --help shows below the summary.
func (importCommand) Help() string {
	return `The organization is not visible before everything is stored and checked: the number of rows and the SHA-256 of each table, and of all objects. If the command fails, it removes what it stored. If it is killed, run it again: it begins anew.

People whom this installation does not know are created. They have no password: they follow "Forgot your password?" on the sign-in page, or you run 'mailhelm admin user set-password'. People whom it knows by their address stay as they are and do not become members, unless you give --join-existing.

If the archive is a copy of an organization that goes on, all its mail is stopped: 'mailhelm admin org allow-mail' ends that.

Examples:

    mailhelm org import acme.age --passphrase-file passphrase.txt
    mailhelm org import acme.age --identity-file key.txt --slug acme-copy --json`
}

// importedJSON is the form in which --json prints an import. Scripts rely on its members.
type importedJSON struct {
	ID   string `json:"id"`
	Slug string `json:"slug"`
	// MailStopped is true if all mail of the organization is stopped.
	MailStopped bool               `json:"mail_stopped"`
	Rows        int64              `json:"rows"`
	Tables      []orgmove.TableSum `json:"tables"`
	Objects     orgmove.ObjectSum  `json:"objects"`
	People      []orgmove.Joined   `json:"people"`
}

// rollback is how long a failed import may take to remove what it stored.
const rollback = 10 * time.Minute

// Run imports the archive.
func (c *importCommand) Run(p *cli.Program) error {
	if c.Slug != "" {
		if err := orgmove.CheckSlug(c.Slug); err != nil {
			return p.Explain(err)
		}
	}
	identities, err := c.identities(c.IdentityFile)
	if err != nil {
		return err
	}
	file, err := os.Open(filepath.Clean(c.Archive))
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was only read
	return c.With(p, func(ctx context.Context, s *installation.Session) error {
		master, err := s.MasterKey(c.Master)
		if err != nil {
			return err
		}
		objects, err := openObjects(s, master)
		if err != nil {
			return err
		}
		noPassword, err := passwords.Hash(rand.Text())
		if err != nil {
			return fmt.Errorf("password: %w", err)
		}
		info, err := file.Stat()
		if err != nil {
			return err
		}
		// The share of the file that was read is the progress, because the number of rows is at
		// its end.
		bar := cli.NewProgress(s.Stderr, info.Size(), s.Config.Clock)
		in := &counted{file: file}
		done, err := orgmove.Import{
			Target: movestore.NewTarget(s.DB.DB, master, noPassword, func(ctx context.Context, orgID string) error {
				return s.Record(ctx, orgID, "org.imported", nil)
			}), Objects: objects, Rollback: rollback,
			Progress: func(rows int64, note string) { bar.Show(in.read, fmt.Sprintf("%d rows, %s", rows, note)) },
		}.Read(ctx, in, identities, orgmove.Options{Slug: c.Slug, Join: c.JoinExisting})
		bar.End()
		if err != nil {
			return err
		}
		if err := seedAccount(ctx, s, master, done.Header.Org.ID); err != nil {
			return fmt.Errorf("the organization %s is imported, but not its simulated account: %w", done.Slug, err)
		}
		return c.print(s, done)
	})
}

// seedAccount creates the simulated account of an organization that has one, with its topics. The
// next sync writes the consent of the contacts to it. On PostgreSQL the server creates the account;
// see accounts.Prepare.
func seedAccount(ctx context.Context, s *installation.Session, master signing.MasterKey, orgID string) error {
	connection, err := s.DB.Connections(master).Connection(ctx, orgID)
	if err != nil && !installation.NotFound(err) {
		return err
	}
	if s.Config.DatabaseURL != "" || err == nil && connection.Provider != sending.Simulated {
		return nil
	}
	topics, err := s.DB.Topics().Topics(ctx, orgID)
	if err != nil {
		return err
	}
	account, err := simulator.Open(s.Config.AccountFile(), simulator.Options{Clock: s.Config.Clock})
	if err != nil {
		return err
	}
	defer account.Close() //nolint:errcheck // Seed has committed
	list := sending.ContactList{Name: "contacts"}
	for _, t := range topics {
		if t.Status != "active" {
			continue // the account no longer has it
		}
		list.Topics = append(list.Topics, sending.Topic{Name: t.Name, DisplayName: t.DisplayName, Description: t.Description, Default: t.Default})
	}
	return account.Seed(ctx, orgID, simulator.Setup{List: &list})
}

// counted counts what was read of a file.
type counted struct {
	file *os.File
	read int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.file.Read(p)
	c.read += int64(n)
	return n, err
}

// print prints the result.
func (*importCommand) print(s *installation.Session, done orgmove.Imported) error {
	shown := importedJSON{
		ID: done.Header.Org.ID, Slug: done.Slug, MailStopped: !done.Header.Stopped, Rows: done.Manifest.Rows(), Tables: done.Manifest.Tables,
		Objects: done.Manifest.Objects, People: append([]orgmove.Joined{}, done.People...),
	}
	if s.JSON {
		return s.PrintJSON(shown)
	}
	rows := [][]string{
		{"imported", shown.Slug},
		{"id", shown.ID},
	}
	rows = append(rows, countsOf(done.Manifest)...)
	next := map[string]string{
		orgmove.StateCreated: "has no password yet: mailhelm admin user set-password ",
		orgmove.StateJoined:  "is a member now",
		orgmove.StateKnown:   "is known here and not a member: mailhelm admin user add-to-org " + shown.Slug + " ",
	}
	for _, person := range shown.People {
		text := next[person.State]
		if person.State != orgmove.StateJoined {
			text += person.Email
		}
		rows = append(rows, []string{person.Email, person.Role + ", " + text})
	}
	if shown.MailStopped {
		rows = append(rows, []string{"", "This is a copy of an organization that goes on, so its mail is stopped: mailhelm admin org allow-mail " + shown.Slug})
	}
	return s.PrintTable("", rows)
}
