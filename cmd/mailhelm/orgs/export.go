package orgs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"filippo.io/age"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/closing"
	"github.com/mailhelm/mailhelm/core/orgmove"
	closingstore "github.com/mailhelm/mailhelm/storage/closing"
	movestore "github.com/mailhelm/mailhelm/storage/orgmove"
)

// exportCommand is `mailhelm org export`.
type exportCommand struct {
	target
	Org         string   `arg:"" help:"Slug or id."`
	Out         string   `help:"File for the archive, which must not exist." required:"" placeholder:"FILE" once:""`
	Stop        bool     `help:"Stop the organization first, to move it: it is deleted here, and can be restored for seven days." once:"" xor:"stop"`
	KeepRunning bool     `help:"Export a copy of an organization that goes on. After the import, all mail of the copy is stopped." once:"" xor:"stop"`
	Recipient   []string `help:"Encrypt for this public key of age in place of a passphrase. May be repeated." placeholder:"KEY" sep:"none"`
}

// Help returns the text that --help shows below the summary.
func (exportCommand) Help() string {
	return `With --stop the organization is deleted in this installation, as 'mailhelm admin org delete' does it: credentials are refused, and no mail is sent or received. So nothing is sent twice, and the archive has its last state. Servers apply this within five seconds. The command waits for that, and then for the messages that are on their way to the sending account, at most a minute. If the import fails, 'mailhelm admin org restore' undoes it. Seven days later all data is erased here.

With --keep-running nothing changes here. The archive has the state of one moment.

Not in the archive: sessions, invitations, grants and tokens of applications, results of calls for their repetition, objects in buckets of the organization, and mail of a simulated account. The guide "Move an organization" says why, and which links go on to work.

Examples:

    mailhelm org export acme --out acme.age --stop --passphrase-file passphrase.txt
    mailhelm org export acme --out acme.age --keep-running --recipient age1...`
}

// exportedJSON is the form in which --json prints an export. Scripts rely on its members.
type exportedJSON struct {
	ID      string `json:"id"`
	Slug    string `json:"slug"`
	Stopped bool   `json:"stopped"`
	// EraseAt is the time from which the data is erased here; null if the organization goes on.
	EraseAt *time.Time         `json:"erase_at"`
	Archive string             `json:"archive"`
	Bytes   int64              `json:"bytes"`
	Rows    int64              `json:"rows"`
	Tables  []orgmove.TableSum `json:"tables"`
	Objects orgmove.ObjectSum  `json:"objects"`
}

const (
	// noticed is how long servers may take to notice that an organization was stopped: the five
	// seconds for which they remember it, and the end of a call that began before.
	noticed = 6 * time.Second
	// settled is how long the command then waits for the messages that are on their way. A server that
	// was killed leaves some, whose outcome the other installation finds out as this one would.
	settled = time.Minute
	// lookAgain is the interval between two looks at them.
	lookAgain = 200 * time.Millisecond
)

// awaitEnd waits until the servers have noticed that an organization was stopped, and until no
// message of it is on its way any more. It returns how many still are when its time is up.
func awaitEnd(ctx context.Context, inProgress func(context.Context) (int, error)) (int, error) {
	if core.Sleep(ctx, noticed) != nil {
		return 0, context.Cause(ctx)
	}
	for waited := time.Duration(0); ; waited += lookAgain {
		n, err := inProgress(ctx)
		if err != nil || n == 0 || waited >= settled {
			return n, err
		}
		if core.Sleep(ctx, lookAgain) != nil {
			return n, context.Cause(ctx)
		}
	}
}

// Run stops the organization, unless it goes on, and writes the archive.
func (c *exportCommand) Run(p *cli.Program) error {
	recipients, err := c.recipients(c.Recipient)
	if err != nil {
		return err
	}
	return c.WithOrg(p, c.Org, func(ctx context.Context, s *installation.Session, org core.Org) error {
		if !org.IsDeleted() && !c.Stop && !c.KeepRunning {
			return errors.New("give --stop to move the organization, or --keep-running for a copy: an organization that runs in two installations sends everything twice")
		}
		if org.IsDeleted() && c.KeepRunning {
			return fmt.Errorf("the organization %s is stopped: leave out --keep-running, or restore it with 'mailhelm admin org restore %s'", org.Slug, org.Slug)
		}
		// It may be an organization whose rows are being deleted, or not all imported yet.
		erasing, err := closingstore.NewOrgStore(s.DB.DB).IsErasing(ctx, org.ID)
		if err != nil {
			return err
		}
		if erasing {
			return fmt.Errorf("the organization %s does not have all its data: it is being erased or imported", org.Slug)
		}
		master, err := s.MasterKey(c.Master)
		if err != nil {
			return err
		}
		objects, err := openObjects(s, master)
		if err != nil {
			return err
		}
		file, err := os.OpenFile(filepath.Clean(c.Out), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		source := movestore.NewSource(s.DB.DB, master)
		export := orgmove.Export{Source: source, Objects: objects, Clock: s.Config.Clock, Program: cli.Build().Version}
		done, err := c.write(ctx, s, source, export, file, recipients, &org)
		if err == nil {
			err = file.Sync()
		}
		if err = errors.Join(err, file.Close()); err != nil {
			return errors.Join(stoppedNote(org, err), os.Remove(c.Out))
		}
		return c.print(s, org, done)
	})
}

// write stops the organization and writes the archive.
func (c *exportCommand) write(ctx context.Context, s *installation.Session, source movestore.Source, export orgmove.Export, file *os.File, recipients []age.Recipient, org *core.Org) (orgmove.Exported, error) {
	if c.Stop && !org.IsDeleted() {
		stopped, err := closing.Organizations{
			Store: closingstore.NewOrgStore(s.DB.DB), Orgs: s.DB.Orgs(), Members: s.DB.Members(), Audit: s.DB.Audit(), Transactor: s.DB, Clock: s.Config.Clock,
		}.Delete(ctx, s.Operator().Actor, org.ID)
		if err != nil {
			return orgmove.Exported{}, err
		}
		*org = stopped
		left, err := awaitEnd(ctx, func(ctx context.Context) (int, error) { return source.InProgress(ctx, org.ID) })
		if err != nil {
			return orgmove.Exported{}, err
		}
		if left > 0 {
			_, _ = fmt.Fprintf(s.Stderr, "%d messages are still on their way, perhaps of a server that was killed. The other installation finds out their outcome.\n", left)
		}
	}
	if err := s.Record(ctx, org.ID, "org.exported", map[string]any{"archive": true}); err != nil {
		return orgmove.Exported{}, err
	}
	bar := cli.NewProgress(s.Stderr, 0, s.Config.Clock)
	defer bar.End()
	export.Progress = func(done, total int64, note string) {
		bar.Resize(total)
		bar.Show(done, note)
	}
	return export.Write(ctx, file, recipients, org.ID, org.IsDeleted())
}

// stoppedNote adds to an error how a stopped organization goes on.
func stoppedNote(org core.Org, err error) error {
	if !org.IsDeleted() {
		return err
	}
	return fmt.Errorf("%w; the organization is stopped: export it again, or let it go on with 'mailhelm admin org restore %s'", err, org.Slug)
}

// print prints the result.
func (c *exportCommand) print(s *installation.Session, org core.Org, done orgmove.Exported) error {
	info, err := os.Stat(c.Out)
	if err != nil {
		return err
	}
	shown := exportedJSON{
		ID: org.ID, Slug: org.Slug, Stopped: org.IsDeleted(), Archive: c.Out, Bytes: info.Size(),
		Rows: done.Manifest.Rows(), Tables: done.Manifest.Tables, Objects: done.Manifest.Objects,
	}
	if shown.Stopped {
		at := org.EraseAt()
		shown.EraseAt = &at
	}
	if s.JSON {
		return s.PrintJSON(shown)
	}
	rows := [][]string{
		{"exported", org.Slug},
		{"archive", c.Out},
	}
	rows = append(rows, countsOf(done.Manifest)...)
	if shown.Stopped {
		rows = append(rows, []string{"stopped here", "erased from " + installation.Instant(shown.EraseAt)}, []string{"", "Until then: mailhelm admin org restore " + org.Slug})
	}
	return s.PrintTable("", append(rows, []string{"", "In the other installation: mailhelm org import " + filepath.Base(c.Out)}))
}
