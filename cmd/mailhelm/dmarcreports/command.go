package dmarcreports

import (
	"errors"
	"fmt"
	"io"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth/report"
)

// Command is `mailhelm dmarc`, which reads what DNS and receivers say about a domain.
type Command struct {
	Show   Show   `cmd:"" help:"Say what DMARC reports in files contain."`
	Import Import `cmd:"" help:"Store DMARC reports in files, so that dashboard and API show them."`
	Record Record `cmd:"" help:"Say what the DMARC record of a domain asks for, and where its reports go."`
}

// Show is `mailhelm dmarc show`.
type Show struct {
	Files   []string `arg:"" help:"Files, or folders with reports; - for standard input."`
	Sources int      `help:"How many sources to list for each report, those with most failures first. Default: ${default}." default:"10" placeholder:"N"`
	ByIP    bool     `name:"by-ip" help:"List the addresses instead of the senders that are recognized."`
	JSON    bool     `help:"Print one JSON object."`
}

// Help returns the text that --help shows below the summary.
func (Show) Help() string {
	return `Reads DMARC aggregate reports and prints what they say: who reports about which domain, how many messages passed and failed DMARC, what happened to those that failed, and who sent them. Nothing is stored or sent.

Senders are recognized by what the receiver verified: DKIM keys and SPF. Their kinds are own, authorised (with a key or the SPF record of the domain), forwarder, unknown, and spoofing. DNS is not asked, so some that DNS would name are networks here.

A file is XML, gzip or zip, also in base64, or a mail (.eml) with such an attachment. Its name does not matter. Reports with faults are read as far as possible; what could not be read is listed as a warning. A report that is there several times counts once. Reports about SMTP TLS (RFC 8460) are counted and left out.

The exit status is 0 when every named file has a report. It is 1 when one has none or cannot be read. Files without a report in a named folder are counted only.

Examples:

    mailhelm dmarc show google.com!example.com!1795737600!1795823999.zip
    mailhelm dmarc show reports --sources 3
    mailhelm dmarc show reports --json | jq '.totals'`
}

// Validate refuses values that make no sense.
func (s Show) Validate() error {
	if s.Sources < 0 || s.Sources > 1000 {
		return errors.New("--sources is from 0 to 1000")
	}
	return nil
}

// Run reads the files and prints their reports. It changes nothing.
func (s *Show) Run(p *cli.Program) error {
	files, size, err := find(s.Files)
	if err != nil {
		return err
	}
	line := cli.NewProgress(p.Stderr, size, core.SystemClock)
	printed := printedShow{Reports: []printedReport{}, Failures: []printedFailure{}, seen: map[reportKey]bool{}}
	done := int64(0)
	for _, file := range files {
		if err := p.Ctx.Err(); err != nil {
			line.End()
			return err
		}
		s.read(p, file, &printed)
		done += file.size
		line.Show(done, fmt.Sprintf("%d reports, %d messages", printed.Totals.Reports, printed.Totals.Messages))
	}
	line.End()
	if err := s.print(p, printed); err != nil {
		return err
	}
	if len(printed.Failures) > 0 {
		return cli.ErrReported
	}
	return nil
}

// read adds the reports of one file. Documents beside them, such as a note in a zip file, are left
// out.
func (s *Show) read(p *cli.Program, file found, printed *printedShow) {
	before := printed.Totals.read()
	err := file.documents(p.Stdin, func(document io.Reader) error {
		sum := newSummary(s.ByIP)
		r, err := report.Parse(document, func(r *report.Record) error {
			sum.add(r)
			return nil
		})
		switch {
		case errors.Is(err, report.ErrTLSReport):
			printed.Totals.TLSReports++
		case errors.Is(err, report.ErrNotReport):
		case err != nil:
			return err
		default:
			printed.add(file.name, r, sum, s.Sources)
		}
		return nil
	})
	none := err == nil && printed.Totals.read() == before
	switch {
	case none && file.inFolder:
		printed.Totals.OtherFiles++
	case none:
		printed.Failures = append(printed.Failures, printedFailure{file.name, report.ErrNotReport.Error()})
	case err != nil:
		printed.Failures = append(printed.Failures, printedFailure{file.name, err.Error()})
	}
}
