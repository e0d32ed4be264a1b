package importing

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/persons"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/consent"
	"github.com/mailhelm/mailhelm/core/contactfile"
	"github.com/mailhelm/mailhelm/core/contactimport"
	"github.com/mailhelm/mailhelm/core/contactupload"
	"github.com/mailhelm/mailhelm/core/signing"
	contactimportstore "github.com/mailhelm/mailhelm/storage/contactimport"
)

// Command is `mailhelm import`.
type Command struct {
	Contacts contacts `cmd:"" help:"Create and update contacts from a CSV file."`
}

// contacts is `mailhelm import contacts`.
type contacts struct {
	installation.Target
	config.Master
	File string `arg:"" help:"CSV file in UTF-8 whose first line names the columns; - for standard input."`
	Org  string `help:"Slug or id of the organization that the contacts belong to. Default: the only organization." placeholder:"ORG" once:""`
	// Map assigns columns to fields: the keys are headers as written in the file, the values
	// are fields. "" as value ignores the column.
	Map           map[string]string `help:"Assign a column to a field, by its header: 'E-mail=email', 'Plan=attributes.plan', 'News=topics.news'; 'Notes=' ignores the column. May be repeated." placeholder:"HEADER=FIELD" mapsep:"none"`
	IgnoreUnknown bool              `help:"Ignore columns that are neither a field nor a registered attribute."`
	ClearEmpty    bool              `help:"Clear the attribute of an empty cell. Default: leave the attribute unchanged."`
	Rebind        bool              `name:"rebind-external-id" help:"Let a row replace the external id of the contact with its address."`
	Delimiter     string            `help:"Separator of fields: comma, semicolon or tab. Default: detected from the header." enum:",comma,semicolon,tab" default:""`
	// Rejected is the name of the file for rejected rows. "" means FILE.rejected.csv, or no
	// such file if the contacts come from standard input.
	Rejected string `help:"File for rejected rows, with the line and the reason of each. Default: FILE.rejected.csv." placeholder:"FILE"`
	DryRun   bool   `help:"Report the outcome of each row without changing anything."`
	Again    bool   `help:"Import rows again that an earlier run of this command imported within seven days."`
}

// Help returns the text that --help shows below the summary.
func (contacts) Help() string {
	return `Imports contacts from a CSV file by the rules of POST /v1/contacts/bulk: a row creates a contact, or updates the one with its external id or its address. It restores an archived contact. Empty cells leave their fields unchanged.

Columns are email, external_id, unsubscribe_all (true or false), lists (all lists of the contact, separated by |), topics.NAME (OPT_IN or OPT_OUT), and the registered attributes by name; --map assigns other headers. A file needs a column for email or external_id. Quoted fields may contain line breaks and delimiters.

A server may run at the same time; consent reaches the sending account the next time a server runs. Rejected rows are written to a separate file and the import continues. Fix the rows in that file and import it: its last two columns, rejected_line and rejected_reason, are ignored. Memory use does not depend on the size of the file.

Repeat an interrupted import with the same command: for seven days it skips the rows that it has imported. --again imports all rows again.

The exit status is 0 when the whole file was read, even if some rows were rejected. It is 1 when the file cannot be read to its end, and when every row was rejected.

Examples:

    mailhelm import contacts people.csv --org acme --dry-run
    mailhelm import contacts people.csv --org acme --map 'E-mail=email' --map 'Notes='
    zcat people.csv.gz | mailhelm import contacts - --org acme --rejected rejected.csv --json`
}

// printedContacts is the object that `mailhelm import contacts --json` prints. Scripts rely
// on its members. RejectedFile is absent if no file of rejected rows was written.
type printedContacts struct {
	Organization string `json:"organization"`
	DryRun       bool   `json:"dry_run"`
	// Columns maps each header to what its column sets, such as "email", or to "" for an
	// ignored column.
	Columns map[string]string `json:"columns"`
	contactupload.Summary
	RejectedFile string `json:"rejected_file,omitempty"`
}

// delimiters maps the values of --delimiter to characters. 0 means that the delimiter is
// detected from the header.
var delimiters = map[string]rune{"": 0, "comma": ',', "semicolon": ';', "tab": '\t'}

// Run imports the contacts of the file. It fails if the file cannot be read to its end, or
// if every row was rejected. It may be repeated after an interruption.
func (c *contacts) Run(p *cli.Program) error {
	return c.With(p, func(ctx context.Context, s *installation.Session) error {
		org, file, err := open(ctx, s, c.Org, c.File)
		if err != nil {
			return err
		}
		return errors.Join(c.run(ctx, s, org, file), file.Close())
	})
}

// run imports an open file and prints the summary. After an error it prints the summary
// too, if it has processed at least one row. The caller closes the file.
func (c *contacts) run(ctx context.Context, s *installation.Session, org core.Org, file *countingFile) error {
	people := serve.Imports(s.DB, persons.Erased(s.DB.Privacy(), func() (signing.MasterKey, error) { return s.MasterKey(c.Master) }), s.Config.Clock, s.Config.Log)
	attributes, err := people.AttributeNames(ctx, org.ID)
	if err != nil {
		return err
	}
	rows, err := contactfile.Open(file, contactfile.Config{
		Delimiter: delimiters[c.Delimiter], Map: c.Map, Attributes: attributes,
		IgnoreUnknown: c.IgnoreUnknown, ClearEmpty: c.ClearEmpty, Rebind: c.Rebind,
	})
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, withFlags(err))
	}
	rejected := &rejectedFile{name: c.rejectedName(), header: rows.Header(), comma: rows.Delimiter()}
	line := cli.NewProgress(s.Stderr, file.size, s.Config.Clock)
	sum, err := contactimport.Run(ctx, contactimport.Config{
		People: people, OrgID: org.ID, By: consent.ByCommand, DryRun: c.DryRun, Again: c.Again, AtOnce: contactimportstore.PartsAtOnce(s.DB.DB), Rejected: rejected.write,
		Progress: func(sum contactupload.Summary) {
			line.Show(sum.Bytes, fmt.Sprintf("%d rows, %d created, %d updated, %d rejected", sum.Rows, sum.Created, sum.Updated, sum.Rejected))
		},
	}, rows)
	line.End()
	err = errors.Join(err, rejected.close())
	if ctx.Err() != nil {
		err = fmt.Errorf("interrupted after row %d: run the same command again to continue there: %w", sum.Rows, err)
	}
	if err != nil && sum.Rows == 0 {
		return err // no row was read
	}
	if err = errors.Join(err, c.print(s, org, rows, sum, rejected)); err != nil {
		return err
	}
	if sum.Rows > 0 && sum.Rejected == sum.Rows {
		return fmt.Errorf("all %d rows of %s were rejected", sum.Rows, c.File)
	}
	return nil
}

// withFlags adds to an error about the columns of a file the flags that avoid it.
func withFlags(err error) error {
	if twice, ok := errors.AsType[*contactfile.TwiceMappedError](err); ok {
		return fmt.Errorf("%w with --map '%s='", err, twice.Second)
	}
	if _, ok := errors.AsType[*contactfile.UnknownColumnsError](err); ok {
		return fmt.Errorf("%w: map them with --map, or ignore them with --ignore-unknown", err)
	}
	if errors.Is(err, contactfile.ErrNoIdentity) {
		return fmt.Errorf("%w: map one with --map 'Header=email'", err)
	}
	return err
}

// rejectedName returns the name of the file for rejected rows. It returns "" for an import
// from standard input without --rejected; no such file is then written.
func (c *contacts) rejectedName() string {
	if c.Rejected != "" || c.File == "-" {
		return c.Rejected
	}
	return c.File + ".rejected.csv"
}

// print prints the summary of an import, as JSON with --json and otherwise as a table. The
// table lists the columns in the order of the file.
func (c *contacts) print(s *installation.Session, org core.Org, rows *contactfile.Reader, sum contactupload.Summary, rejected *rejectedFile) error {
	columns := map[string]string{}
	var meant []string
	for i, meaning := range rows.Mapping() {
		columns[rows.Header()[i]] = meaning
		if meaning == "" {
			meaning = "ignored"
		}
		meant = append(meant, rows.Header()[i]+" = "+meaning)
	}
	if s.JSON {
		return s.PrintJSON(printedContacts{org.Slug, c.DryRun, columns, sum, rejected.createdName()})
	}
	table := [][]string{
		{"organization", org.Slug},
		{"columns", strings.Join(meant, ", ")},
		{"rows", strconv.Itoa(sum.Rows)},
		{"created", strconv.Itoa(sum.Created)},
		{"updated", strconv.Itoa(sum.Updated)},
		{"rejected", cli.LineCount(sum.Rejected, sum.RejectedLines)},
		{"not mailable", cli.LineCount(sum.NotMailable, sum.NotMailableLines)},
		{"skipped", strconv.Itoa(sum.DoneBefore)},
	}
	if name := rejected.createdName(); name != "" {
		table = append(table, []string{"rejected to", name})
	}
	if c.DryRun {
		table = append(table, []string{"dry run", "nothing was changed"})
	}
	return s.PrintTable("", table)
}
