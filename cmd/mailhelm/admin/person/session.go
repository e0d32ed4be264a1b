package person

import (
	"context"
	"errors"
	"strconv"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/accounts"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/mailstores"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/persons"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/privacy"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/storage/workflows"
)

// Commands is `mailhelm admin person`.
type Commands struct {
	Export export `cmd:"" help:"Write all data about a person into a JSON file and a page."`
	Erase  erase  `cmd:"" help:"Erase all data about a person."`
	Allow  allow  `cmd:"" help:"Let an erased address get mail and become a contact again."`
}

// Help returns the text that --help shows below the summary.
func (Commands) Help() string {
	return `Answers a person who asks an organization for their data, or to be forgotten. Both commands look in every table of the database, at the sending account and in the store of received mail. Agents and the public API cannot do this; in the dashboard, members with the permission can.

Erasing deletes the contact with its attributes, lists, segments, activities and visitor id, imported rows and received mail. Messages, events and runs of workflows stay in reports, under a random name that cannot be traced back. If the person had opted out, complained or bounced, a keyed hash of the address stays. It refuses mail and imports of this address, and tells nothing else; allow removes it.

Erasing is final. Copies of the database remain until you delete them; after restoring one, run 'mailhelm restore-check'.

Examples:

    mailhelm admin person export acme ada@example.com --output ada
    mailhelm admin person erase acme ada@example.com
    mailhelm admin person erase acme ada@example.com --confirm ada@example.com
    mailhelm admin person allow acme ada@example.com`
}

// places holds the flags that say where data about persons is.
type places struct {
	installation.Target
	config.Master
	BucketNetworks []string `name:"bucket-networks" help:"Private networks in CIDR form, separated by commas, in which buckets of received mail may be. The server needs the same setting." placeholder:"CIDR"`
}

// target holds the flags and arguments that the commands about one person share.
type target struct {
	places
	Org     string `arg:"" help:"Slug or id of the organization."`
	Address string `arg:"" help:"Email address of the person."`
}

// session is a running command.
type session struct {
	*installation.Session
	org     core.Org
	privacy *privacy.Privacy
}

// on opens what the commands need, and calls the function do with the organization.
func (t target) on(p *cli.Program, do func(context.Context, session) error) error {
	return t.open(p, func(ctx context.Context, s *installation.Session, found *privacy.Privacy) error {
		org, err := s.Org(ctx, t.Org)
		if err != nil {
			return err
		}
		return do(ctx, session{s, org, found})
	})
}

// open opens the database, the master key, the sending account and the stores of received mail,
// and calls the function do.
func (t places) open(p *cli.Program, do func(context.Context, *installation.Session, *privacy.Privacy) error) error {
	return t.With(p, func(ctx context.Context, s *installation.Session) (err error) {
		master, err := s.MasterKey(t.Master)
		if err != nil {
			return err
		}
		cfg := s.Config
		cfg.BucketNetworks = t.BucketNetworks
		embedded, err := simulator.Open(cfg.AccountFile(), simulator.Options{Clock: cfg.Clock})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, embedded.Close()) }()
		lists := accounts.NewConsent(s.DB.DB, embedded, cfg.Log)
		adapters, err := accounts.NewAdapters(cfg, lists)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, adapters.Close()) }()
		stores, err := mailstores.Open(cfg, s.DB.MailBuckets(master), s.DB, master, "")
		if err != nil {
			return err
		}
		defer stores.Close()
		account := sending.NewAccounts(sending.AccountsConfig{Connections: s.DB.Connections(master), Otherwise: embedded, Open: adapters.Open, Prepare: lists.Prepare, Clock: cfg.Clock})
		erased := persons.Erased(s.DB.Privacy(), func() (signing.MasterKey, error) { return master, nil })
		found, err := persons.New(privacy.Config{
			Store: s.DB.Privacy(), Account: account, Runs: workflows.NewTimerStore(s.DB.DB), Audit: s.DB.Audit(), Transactor: s.DB, Clock: cfg.Clock,
			Journal: persons.NewJournal(cfg.DataDir),
		}, erased, stores.Locator)
		if err != nil {
			return err
		}
		return do(ctx, s, found)
	})
}

// operator is the actor that the audit log names.
func operator() access.Actor { return access.ActorOf(access.Operator) }

// countJSON is the number of rows in a table, as --json prints it.
type countJSON struct {
	Table string `json:"table"`
	Rows  int    `json:"rows"`
	// Erasure is delete or rewrite.
	Erasure privacy.Erasure `json:"erasure"`
}

// reportJSON is the form in which --json prints what is stored about a person, or what was
// erased. Scripts rely on its members.
type reportJSON struct {
	OrgID  string      `json:"org_id"`
	DryRun bool        `json:"dry_run"`
	Tables []countJSON `json:"tables"`
	// Contact and Suppressed report whether the sending account had the address on its contact
	// list and on its suppression list.
	Contact    bool `json:"account_contact"`
	Suppressed bool `json:"account_suppressed"`
	// Refuses is opt_out, complaint, bounce, or "" if mail to the address is not refused later.
	Refuses privacy.Refusal `json:"refuses"`
	// Files has the number of rows removed from each file of --import-file.
	Files []fileJSON `json:"files,omitempty"`
}

type fileJSON struct {
	File string `json:"file"`
	Rows int    `json:"rows"`
}

// print prints a report.
func (s session) print(r privacy.Report, dryRun bool, files []fileJSON) error {
	shown := reportJSON{
		OrgID: s.org.ID, DryRun: dryRun, Tables: []countJSON{}, Contact: r.Account.Contact != nil, Suppressed: r.Account.Suppressed != nil,
		Refuses: r.Refuses, Files: files,
	}
	for _, c := range r.Tables {
		shown.Tables = append(shown.Tables, countJSON{c.Table.Name, c.Rows, c.Table.Erase})
	}
	if s.JSON {
		return s.PrintJSON(shown)
	}
	does := map[privacy.Erasure]string{privacy.Delete: "deleted", privacy.Rewrite: "made anonymous"}
	if dryRun {
		does = map[privacy.Erasure]string{privacy.Delete: "to delete", privacy.Rewrite: "to make anonymous"}
	}
	rows := [][]string{{"PLACE", "ROWS", ""}}
	for _, c := range shown.Tables {
		rows = append(rows, []string{c.Table, strconv.Itoa(c.Rows), does[c.Erasure]})
	}
	if shown.Contact {
		rows = append(rows, []string{"contact list of the account", "1", does[privacy.Delete]})
	}
	if shown.Suppressed {
		rows = append(rows, []string{"suppression list of the account", "1", does[privacy.Delete]})
	}
	if len(rows) == 1 && len(files) == 0 {
		return nil // the conclusion says that nothing is stored
	}
	for _, f := range files {
		rows = append(rows, []string{f.File, strconv.Itoa(f.Rows), does[privacy.Delete]})
	}
	return s.PrintTable("", rows)
}
