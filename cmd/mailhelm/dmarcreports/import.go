package dmarcreports

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth/arrivals"
	"github.com/mailhelm/mailhelm/core/domainauth/intake"
	"github.com/mailhelm/mailhelm/core/domainauth/report"
	"github.com/mailhelm/mailhelm/core/inbound/parse"
)

// Import is `mailhelm dmarc import`.
type Import struct {
	installation.Target
	config.Master
	Files          []string `arg:"" optional:"" help:"Files, or folders with reports. With --bucket: how the keys of the objects begin; without any, all objects are read."`
	Org            string   `help:"Slug or id of the organization that the domains belong to. Default: the only organization." placeholder:"ORG" once:""`
	Bucket         string   `help:"Read objects in this bucket in place of files. It must be in the mail storage of the organization." placeholder:"NAME" once:""`
	BucketNetworks []string `name:"bucket-networks" help:"Private networks in CIDR form, separated by commas, in which buckets may be. The server needs the same setting." placeholder:"CIDR"`
}

// Validate refuses a command without files and without a bucket.
func (c Import) Validate() error {
	if len(c.Files) == 0 && c.Bucket == "" {
		return errors.New("name files or folders with reports, or a bucket with --bucket")
	}
	return nil
}

// Help returns the text that --help shows below the summary.
func (Import) Help() string {
	return `Stores DMARC aggregate reports of an organization. Their messages then are in the figures of the domains, on the dashboard and in the API, like those of reports that come by mail.

Reports are taken about domains from which the organization may send: a verified domain of its sending account, or a name below one. Reports about others are counted and left out, and so are those about a period more than two years ago. A report that is known already counts once, so the command can be repeated, also after an interruption. Files with new reports are then in the list of files on the dashboard.

Files are the same as for 'mailhelm dmarc show': XML, gzip or zip, also in base64, or a mail (.eml) with such an attachment. A server may run at the same time. Memory use does not depend on the size of the reports.

With --bucket, objects are read that another program put into a bucket of the organization's mail storage (see 'mailhelm admin org mail-storage'), such as mails that Amazon SES stored. Each object is read once and is then in the list of files on the dashboard, so the command can run every hour.

The exit status is 0 when every named file was read. It is 1 when one has no report or cannot be read. Files without a report in a named folder are counted only.

Examples:

    mailhelm dmarc import reports --org bakery
    mailhelm dmarc import google.com!bakery.example!1795737600!1795823999.zip --json
    mailhelm dmarc import --bucket bakery-mail dmarc/ --org bakery`
}

// printedImport is the object that `mailhelm dmarc import --json` prints.
type printedImport struct {
	Organization string           `json:"organization"`
	Files        int              `json:"files"`
	Reports      int              `json:"reports"`
	Records      int              `json:"records"`
	Messages     int64            `json:"messages"`
	Duplicates   int              `json:"duplicates"`
	TLSReports   int              `json:"tls_reports"`
	OtherDomains int              `json:"reports_about_other_domains"`
	Unusable     int              `json:"reports_without_usable_period"`
	Warnings     int              `json:"warnings"`
	OtherFiles   int              `json:"other_files"`
	Failures     []printedFailure `json:"failures"`
}

// Run reads the files. It may be repeated.
func (c *Import) Run(p *cli.Program) error {
	if c.Bucket != "" {
		return c.With(p, c.fromBucket)
	}
	files, size, err := find(c.Files)
	if err != nil {
		return err
	}
	return c.With(p, func(ctx context.Context, s *installation.Session) error {
		org, err := s.OrgOrOnly(ctx, c.Org)
		if err != nil {
			return err
		}
		i := importing{
			batch:   newReader(s).Batch(),
			session: s, org: org, line: cli.NewProgress(s.Stderr, size, s.Config.Clock),
			printed: printedImport{Organization: org.Slug, Failures: []printedFailure{}},
		}
		err = i.all(ctx, files)
		i.line.End()
		if printErr := i.print(); err == nil {
			err = printErr
		}
		if err == nil && len(i.printed.Failures) > 0 {
			return cli.ErrReported
		}
		return err
	})
}

// newReader returns what reads files into the database.
func newReader(s *installation.Session) *intake.Reader {
	c := intake.Config{Store: s.DB.DMARCReports(), Transactor: s.DB, Clock: s.Config.Clock, Limits: limits}
	if s.Config.DatabaseURL != "" {
		c.Portion = 10_000 // no other writer waits for it
	}
	return intake.New(c)
}

// importing is a running import.
type importing struct {
	batch   *intake.Batch
	session *installation.Session
	org     core.Org
	line    *cli.Progress
	printed printedImport
	// results are those of files whose reports may not be stored yet.
	results []fileResult
}

// fileResult is the result of a part of a file.
type fileResult struct {
	*intake.Result
	file arrivals.File
}

// all reads files. Those that were read before an error stay.
func (i *importing) all(ctx context.Context, files []found) error {
	done := int64(0)
	for _, file := range files {
		if err := ctx.Err(); err != nil {
			return errors.Join(fmt.Errorf("interrupted: run the same command again: %w", err), i.settle(context.WithoutCancel(ctx)))
		}
		if err := i.read(ctx, file); err != nil {
			return errors.Join(fmt.Errorf("%s: %w", file.name, err), i.settle(context.WithoutCancel(ctx)))
		}
		i.printed.Files++
		done += file.size
		i.line.Show(done, fmt.Sprintf("%d files", i.printed.Files))
	}
	return i.settle(ctx)
}

// settle stores what was read, and adds up the results.
func (i *importing) settle(ctx context.Context) error {
	if err := i.batch.Flush(ctx); err != nil {
		return err
	}
	for _, r := range i.results {
		p := &i.printed
		p.Reports, p.Records, p.Messages, p.Duplicates = p.Reports+r.Reports, p.Records+r.Records, p.Messages+r.Messages, p.Duplicates+r.Duplicates
		p.TLSReports, p.OtherDomains, p.Unusable, p.Warnings = p.TLSReports+r.TLSReports, p.OtherDomains+r.Foreign, p.Unusable+r.Unusable, p.Warnings+r.Warnings
	}
	return i.list(ctx)
}

// list adds the files whose reports were taken to the list of files of the organization.
func (i *importing) list(ctx context.Context) error {
	var files []arrivals.File
	for _, r := range i.results {
		if r.Reports == 0 {
			continue
		}
		if last := len(files) - 1; last < 0 || files[last].ID != r.file.ID {
			files = append(files, r.file)
		}
		counts := &files[len(files)-1].Counts
		counts.Reports, counts.Duplicates, counts.TLSReports, counts.Foreign = counts.Reports+r.Reports, counts.Duplicates+r.Duplicates, counts.TLSReports+r.TLSReports, counts.Foreign+r.Foreign
	}
	i.results = nil
	if len(files) == 0 {
		return nil
	}
	_, err := i.session.DB.ReportArrivals().AddFiles(ctx, i.org.ID, files)
	return err
}

// read reads one file. It fails only if the import cannot go on.
func (i *importing) read(ctx context.Context, file found) error {
	parts, err := file.parts()
	if err != nil {
		i.printed.Failures = append(i.printed.Failures, printedFailure{file.name, err.Error()})
		return nil
	}
	found, now := 0, i.session.Config.Clock()
	entry := arrivals.File{
		OrgID: i.org.ID, ID: core.NewID(), Origin: arrivals.Import, Name: filepath.Base(file.name), State: arrivals.Read, Size: file.size, ReceivedAt: now, UpdatedAt: now,
	}
	for _, open := range parts {
		result, err := i.batch.Add(ctx, intake.Target{OrgID: i.org.ID, FileID: entry.ID, ReceivedAt: now}, open)
		i.results = append(i.results, fileResult{result, entry})
		found += result.Found
		switch {
		case err == nil:
		case !isUnreadable(err):
			return err
		default:
			found++
			i.printed.Failures = append(i.printed.Failures, printedFailure{file.name, err.Error()})
		}
	}
	switch {
	case found > 0:
	case file.inFolder:
		i.printed.OtherFiles++
	default:
		i.printed.Failures = append(i.printed.Failures, printedFailure{file.name, report.ErrNotReport.Error()})
	}
	if len(i.results) >= 1000 {
		return i.settle(ctx)
	}
	return nil
}

// parts returns what may be read of a file: the file itself, or the body and the attachments of
// a mail.
func (f found) parts() ([]intake.Open, error) {
	file, err := os.Open(f.name)
	if err != nil {
		return nil, err
	}
	head, _ := bufio.NewReader(file).Peek(100) // an error comes again when it is read
	if !mailHeader.Match(head) {
		return []intake.Open{func() (io.ReadCloser, error) { return os.Open(f.name) }}, file.Close()
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	raw, err := io.ReadAll(io.LimitReader(file, maxMail+1))
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	if len(raw) > maxMail {
		return nil, report.ErrTooLarge
	}
	content := parse.Bytes(raw, parse.DefaultLimits)
	parts := []intake.Open{func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader([]byte(content.TextBody))), nil }}
	for n := range content.Attachments {
		parts = append(parts, func() (io.ReadCloser, error) { return io.NopCloser(content.Attachments[n].Open()), nil })
	}
	return parts, nil
}

// isUnreadable reports whether an error is about the content of a file.
func isUnreadable(err error) bool {
	return errors.Is(err, report.ErrCorrupt) || errors.Is(err, report.ErrTooLarge) || errors.Is(err, report.ErrNotReport)
}

// print prints what was imported.
func (i *importing) print() error {
	p := i.printed
	if i.session.JSON {
		return i.session.PrintJSON(p)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s imported, with %s in %s\n", counted(uint64(p.Reports), "report"), counted(uint64(p.Messages), "message"), counted(uint64(p.Records), "record"))
	for _, left := range []struct {
		n    int
		what string
	}{
		{p.Duplicates, "known already"},
		{p.OtherDomains, "about domains that are not of the organization"},
		{p.Unusable, "about no usable period, or one more than two years ago"},
		{p.TLSReports, "about SMTP TLS"},
	} {
		if left.n > 0 {
			fmt.Fprintf(&text, "%s left out: %s\n", counted(uint64(left.n), "report"), left.what)
		}
	}
	if p.Warnings > 0 {
		fmt.Fprintf(&text, "%s in these reports; 'mailhelm dmarc show' lists them\n", counted(uint64(p.Warnings), "fault"))
	}
	if p.OtherFiles > 0 {
		fmt.Fprintf(&text, "%s without a report\n", counted(uint64(p.OtherFiles), "file"))
	}
	for _, f := range p.Failures {
		fmt.Fprintf(i.session.Stderr, "%s: %s\n", safe(f.File), f.Error)
	}
	_, err := io.WriteString(i.session.Stdout, text.String())
	return err
}
