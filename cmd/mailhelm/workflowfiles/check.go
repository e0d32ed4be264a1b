package workflowfiles

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/workflowfiles/names"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/workflowfiles/review"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// organization has the flags of commands that read names from a server.
type organization struct {
	Server string `help:"Address of the API that has the names. Default: ${default}." default:"http://localhost:8080" placeholder:"URL"`
	Key    string `help:"API key of the organization whose names workflows use, with the scopes to view attributes, topics, lists, segments, templates and activities. Other users of the machine can read it on the command line: prefer the variable. Default: names are not checked." placeholder:"KEY" secret:"whole"`
}

// client returns a client for the names, nil without a key.
func (o organization) client() (*names.Client, error) {
	if o.Key == "" {
		return nil, nil
	}
	return names.New(o.Server, o.Key, core.SystemClock)
}

// schema reads the names of the organization. It returns nil without a key.
func (o organization) schema(ctx context.Context) (*language.Schema, error) {
	client, err := o.client()
	if client == nil || err != nil {
		return nil, err
	}
	read, err := client.Names(ctx)
	if err != nil {
		return nil, err
	}
	schema := read.Schema()
	return &schema, nil
}

// Check is `mailhelm check`.
type Check struct {
	organization
	Files []string `arg:"" help:"Files, or folders with files *.workflow; - for standard input."`
	JSON  bool     `help:"Print one JSON object."`
}

// Help returns the text that --help shows below the summary.
func (Check) Help() string {
	return `Checks workflows and prints all faults at once, each as file:line:column: message, with what is expected there and the likely correction. Columns count characters from 1. Warnings are about valid parts that were probably not meant.

Without a key, the syntax and the rules of the language are checked. With --key, every attribute, topic, list, segment and template must exist in the organization, and values must have the types of their attributes.

The exit status is 0 when all files are valid, even with warnings. It is 1 when a file has faults, cannot be read, or when the server does not give the names.

Examples:

    mailhelm check welcome.workflow
    mailhelm check workflows --server https://api.example.com --json
    MAILHELM_KEY=sk_live_... mailhelm check workflows`
}

// checkedFile is a file in the object that `mailhelm check --json` prints. Scripts rely on
// its members.
type checkedFile struct {
	File     string  `json:"file"`
	Valid    bool    `json:"valid"`
	Errors   []fault `json:"errors"`
	Warnings []fault `json:"warnings"`
}

// printedCheck is the object that `mailhelm check --json` prints.
type printedCheck struct {
	Valid        bool          `json:"valid"`
	NamesChecked bool          `json:"names_checked"`
	Files        []checkedFile `json:"files"`
}

// Run checks the files and prints what it found. It changes nothing.
func (c *Check) Run(p *cli.Program) error {
	all, err := files(c.Files)
	if err != nil {
		return err
	}
	schema, err := c.schema(p.Ctx)
	if err != nil {
		return err
	}
	printed := printedCheck{Valid: true, NamesChecked: schema != nil, Files: []checkedFile{}}
	for _, file := range all {
		source, err := read(p.Stdin, file)
		if err != nil {
			return err
		}
		r := review.Source(source, schema)
		printed.Valid = printed.Valid && r.Valid()
		printed.Files = append(printed.Files, checkedFile{file, r.Valid(), errorsOf(r), warningsOf(r)})
		if !c.JSON {
			printReview(p, file, r, schema != nil)
		}
	}
	if c.JSON {
		if err := p.PrintJSON(printed); err != nil {
			return err
		}
	}
	if !printed.Valid {
		return cli.ErrReported
	}
	return nil
}

// printReview prints the faults and warnings of a file, and whether it is valid.
func printReview(p *cli.Program, file string, r review.Result, named bool) {
	for _, line := range lines(file, r) {
		fmt.Fprintln(p.Stdout, line)
	}
	switch {
	case !r.Valid():
	case named:
		fmt.Fprintf(p.Stdout, "%s: valid\n", file)
	default:
		fmt.Fprintf(p.Stdout, "%s: valid, names not checked\n", file)
	}
}
