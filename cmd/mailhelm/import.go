package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/contactfile"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/contactimport"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/host"
	"github.com/mailhelm/mailhelm/core"
)

type importCommand struct {
	Contacts importContacts `cmd:"" help:"Create and change contacts from a CSV file."`
}

type importContacts struct {
	adminTarget
	File          string            `arg:"" help:"CSV file in UTF-8 whose first line names the columns; - for standard input."`
	Org           string            `help:"Slug or id of the organization whose contacts they are. Default: the only one there is." placeholder:"ORG" once:""`
	Map           map[string]string `help:"What a column means, by its header: 'E-mail=email', 'Plan=attributes.plan', 'News=topics.news'; 'Notes=' leaves it out. May be repeated." placeholder:"HEADER=FIELD" mapsep:"none"`
	IgnoreUnknown bool              `help:"Leave out columns that are no field and no registered attribute."`
	ClearEmpty    bool              `help:"Let an empty cell clear its attribute. Otherwise it leaves the attribute as it is."`
	Rebind        bool              `name:"rebind-external-id" help:"Let a row give the contact of its address another external id than it has."`
	Delimiter     string            `help:"What stands between fields: comma, semicolon or tab. Default: what the header shows." enum:",comma,semicolon,tab" default:""`
	Rejected      string            `help:"Where rows go that cannot be taken, with the line and the reason. Default: the name of FILE with .rejected.csv behind it." placeholder:"FILE"`
	DryRun        bool              `help:"Say what would become of each row, and change nothing."`
	Again         bool              `help:"Do rows once more that this command has done within seven days."`
}

// Help is shown below the summary.
func (importContacts) Help() string {
	return `Takes contacts in from a CSV file, as POST /v1/contacts/bulk does: a row creates a contact or changes the one that has its external id or its address; an archived one is taken back into use. What a row leaves empty stays as it is.

Columns are email, external_id, unsubscribe_all (true or false), lists (exactly those to be on, with | between them), topics.NAME (OPT_IN or OPT_OUT), and the registered attributes by their names; --map names others. One of email and external_id is needed. Fields may be quoted and may then hold line ends and delimiters.

The server may run meanwhile, and has to run some time for the sending account to learn of the consent. Rows that cannot be taken are written to a file of their own and hold up no other: mend them there, and import that file; its last two columns, rejected_line and rejected_reason, are left out by themselves. Memory does not grow with the file.

An import that was interrupted is repeated with the same command: what it has done it does not do again. That is known for seven days; --again does it all once more.

The exit status is 0 when the whole file was read and some of it taken, also beside rows that were rejected. It is 1 when the file cannot be read to its end, and when all of its rows were rejected.

Examples:

    mailhelm import contacts people.csv --org acme --dry-run
    mailhelm import contacts people.csv --org acme --map 'E-mail=email' --map 'Notes='
    zcat people.csv.gz | mailhelm import contacts - --org acme --rejected rejected.csv --json`
}

type importedJSON struct {
	Organization string            `json:"organization"`
	DryRun       bool              `json:"dry_run"`
	Columns      map[string]string `json:"columns"`
	contactimport.Summary
	RejectedFile string `json:"rejected_file,omitempty"`
}

var delimiters = map[string]rune{"": 0, "comma": ',', "semicolon": ';', "tab": '\t'}

// Run takes in the file.
func (c *importContacts) Run(p *program) error {
	return c.with(p, func(ctx context.Context, s *session) error {
		org, file, err := s.source(ctx, p, c.Org, c.File)
		if err != nil {
			return err
		}
		return errors.Join(c.take(ctx, s, org, file), file.Close())
	})
}

func (c *importContacts) take(ctx context.Context, s *session, org core.Org, file *counted) error {
	people := host.Imports(s.db, s.cfg.Clock, s.cfg.Log)
	attributes, err := people.AttributeNames(ctx, org.ID)
	if err != nil {
		return err
	}
	rows, err := contactfile.Open(file, contactfile.Config{
		Delimiter: delimiters[c.Delimiter], Map: c.Map, Attributes: attributes,
		IgnoreUnknown: c.IgnoreUnknown, ClearEmpty: c.ClearEmpty, Rebind: c.Rebind,
	})
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	rejected := &rejectedFile{name: c.rejectedName(), header: rows.Header(), comma: rows.Delimiter()}
	line := progressOn(s.stderr, file.size, s.cfg.Clock)
	sum, err := contactimport.Run(ctx, contactimport.Config{
		People: people, OrgID: org.ID, DryRun: c.DryRun, Again: c.Again, Rejected: rejected.write,
		Progress: func(sum contactimport.Summary) {
			line.show(file.bytes.Load(), fmt.Sprintf("%d rows, %d created, %d updated, %d rejected", sum.Rows, sum.Created, sum.Updated, sum.Rejected))
		},
	}, rows)
	line.end()
	err = errors.Join(err, rejected.close())
	if ctx.Err() != nil {
		err = fmt.Errorf("interrupted behind row %d: the same command goes on from there: %w", sum.Rows, err)
	}
	if err != nil && sum.Rows == 0 {
		return err // there is nothing to sum up
	}
	if err = errors.Join(err, c.print(s, org, rows, sum, rejected)); err != nil {
		return err
	}
	if sum.Rows > 0 && sum.Rejected == sum.Rows {
		return fmt.Errorf("all %d rows of %s were rejected", sum.Rows, c.File)
	}
	return nil
}

// rejectedName is "" when nobody wants a file.
func (c *importContacts) rejectedName() string {
	if c.Rejected != "" || c.File == "-" {
		return c.Rejected
	}
	return c.File + ".rejected.csv"
}

func (c *importContacts) print(s *session, org core.Org, rows *contactfile.Reader, sum contactimport.Summary, rejected *rejectedFile) error {
	columns := map[string]string{}
	var meant []string
	for i, meaning := range rows.Mapping() {
		columns[rows.Header()[i]] = meaning
		if meaning == "" {
			meaning = "nothing"
		}
		meant = append(meant, rows.Header()[i]+" = "+meaning)
	}
	if s.json {
		return s.printJSON(importedJSON{org.Slug, c.DryRun, columns, sum, rejected.made()})
	}
	table := [][]string{
		{"organization", org.Slug},
		{"columns", strings.Join(meant, ", ")},
		{"rows", strconv.Itoa(sum.Rows)},
		{"created", strconv.Itoa(sum.Created)},
		{"updated", strconv.Itoa(sum.Updated)},
		{"rejected", lineCount(sum.Rejected, sum.RejectedLines)},
		{"not mailable", lineCount(sum.NotMailable, sum.NotMailableLines)},
		{"done before", strconv.Itoa(sum.DoneBefore)},
	}
	if name := rejected.made(); name != "" {
		table = append(table, []string{"rejected to", name})
	}
	if c.DryRun {
		table = append(table, []string{"dry run", "nothing was changed"})
	}
	return s.printTable("", table)
}

// rejectedFile takes rows that were rejected, as they came, with two columns more. It
// is made with the first of them.
type rejectedFile struct {
	name   string
	header []string
	comma  rune
	file   *os.File
	rows   *csv.Writer
}

func (f *rejectedFile) write(row contactfile.Row, reason string) error {
	if f.name == "" {
		return nil
	}
	if f.file == nil {
		var err error
		// It holds addresses.
		if f.file, err = os.OpenFile(f.name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600); err != nil {
			return err
		}
		f.rows = csv.NewWriter(f.file)
		f.rows.Comma = f.comma
		header := slices.DeleteFunc(slices.Clone(f.header), contactfile.IsRejectedColumn)
		if err := f.rows.Write(append(header, contactfile.RejectedColumns...)); err != nil {
			return err
		}
	}
	cells := make([]string, 0, len(f.header)+len(contactfile.RejectedColumns))
	for i, name := range f.header {
		if contactfile.IsRejectedColumn(name) {
			continue
		}
		cell := ""
		if i < len(row.Cells) {
			cell = row.Cells[i]
		}
		cells = append(cells, cell)
	}
	return f.rows.Write(append(cells, strconv.Itoa(row.Line), reason))
}

func (f *rejectedFile) made() string {
	if f.file == nil {
		return ""
	}
	return f.name
}

func (f *rejectedFile) close() error {
	if f.file == nil {
		return nil
	}
	f.rows.Flush()
	return errors.Join(f.rows.Error(), f.file.Close())
}
