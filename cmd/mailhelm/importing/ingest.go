package importing

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/importing/backfill"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/persons"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/signing"
)

// Events is `mailhelm ingest`.
type Events struct {
	installation.Target
	config.Master
	File string `arg:"" help:"File with one event a line, plain or gzip; - for standard input."`
	Org  string `help:"Slug or id of the organization that the events belong to. Default: the only organization." placeholder:"ORG" once:""`
}

// Help returns the text that --help shows below the summary.
func (Events) Help() string {
	return `Imports events of Amazon SES that were kept elsewhere, as JSON lines: plain, or inside the notification of Amazon SNS or the envelope of Amazon EventBridge that delivered them. Events that are stored already are skipped, so an interrupted run can be repeated. A server may run at the same time. Lines without an event are counted and listed, and the run continues.

The exit status is 0 when every event in the file is stored, even if some lines have no event. It is 1 when an event could not be stored, and when no line of the file has an event.

Examples:

    mailhelm ingest events.jsonl --org acme
    zcat archive/*.gz | mailhelm ingest - --org acme --json`
}

// printedEvents is the object that `mailhelm ingest --json` prints. Scripts rely on its
// members.
type printedEvents struct {
	Organization string `json:"organization"`
	backfill.Summary
}

// Run imports the events of the file and prints a summary. After an error it prints the
// summary too, if it has read at least one line. It may be repeated: events that are
// already stored count as duplicates.
func (c *Events) Run(p *cli.Program) error {
	return c.With(p, func(ctx context.Context, s *installation.Session) error {
		org, read, err := open(ctx, s, c.Org, c.File)
		if err != nil {
			return err
		}
		line := cli.NewProgress(s.Stderr, read.size, s.Config.Clock)
		sum, err := backfill.Run(ctx, backfill.Config{
			Events: serve.Events(s.DB, persons.Erased(s.DB.Privacy(), func() (signing.MasterKey, error) { return s.MasterKey(c.Master) }), s.Config.Clock, s.Config.Log), OrgID: org.ID, Clock: s.Config.Clock,
			Progress: func(sum backfill.Summary) {
				line.Show(read.bytes.Load(), fmt.Sprintf("%d events, %d new", sum.Events, sum.New))
			},
		}, read)
		line.End()
		err = errors.Join(err, read.Close())
		if err != nil && sum.Lines == 0 {
			return err // no line was read
		}
		if err = errors.Join(err, printEvents(s, org, sum)); err != nil {
			return err
		}
		switch {
		case sum.Failed > 0:
			return cli.ErrReported
		case sum.Malformed > 0 && sum.Events == 0:
			return fmt.Errorf("no line of %s has an event of Amazon SES: choose another file, or write each event on one line", c.File)
		}
		return nil
	})
}

// printEvents prints the summary of an import of events, as JSON with --json and otherwise
// as a table.
func printEvents(s *installation.Session, org core.Org, sum backfill.Summary) error {
	if s.JSON {
		return s.PrintJSON(printedEvents{org.Slug, sum})
	}
	return s.PrintTable("", [][]string{
		{"organization", org.Slug},
		{"lines", strconv.Itoa(sum.Lines)},
		{"events", strconv.Itoa(sum.Events)},
		{"new", strconv.Itoa(sum.New)},
		{"duplicates", strconv.Itoa(sum.Duplicates)},
		{"malformed", cli.LineCount(sum.Malformed, sum.MalformedLines)},
		{"failed", cli.LineCount(sum.Failed, sum.FailedLines)},
	})
}
