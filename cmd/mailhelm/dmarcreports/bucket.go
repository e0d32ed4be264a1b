package dmarcreports

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/mailstores"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/dmarc"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth/arrivals"
	"github.com/mailhelm/mailhelm/core/objects"
)

// fromBucket reads objects of a bucket.
func (c *Import) fromBucket(ctx context.Context, s *installation.Session) error {
	org, err := s.OrgOrOnly(ctx, c.Org)
	if err != nil {
		return err
	}
	master, err := s.MasterKey(c.Master)
	if err != nil {
		return err
	}
	cfg := s.Config
	cfg.BucketNetworks = c.BucketNetworks
	buckets, err := mailstores.Buckets(cfg)
	if err != nil {
		return err
	}
	defer buckets.Close()
	store := s.DB.ReportArrivals()
	collector := arrivals.Collector{
		Deposits: objects.Deposits{Buckets: s.DB.MailBuckets(master), Opener: buckets}, Files: store, Queue: store, Clock: cfg.Clock,
		Intake: dmarc.Intake{Reader: newReader(s)},
	}
	printed := printedBucket{Organization: org.Slug, Bucket: c.Bucket, Failures: []printedFailure{}}
	prefixes := c.Files
	if len(prefixes) == 0 {
		prefixes = []string{""}
	}
	for _, prefix := range prefixes {
		err = collector.FromBucket(ctx, org.ID, c.Bucket, prefix, func(f arrivals.File) { printed.add(s, f) })
		if core.IsNotFound(err) {
			return fmt.Errorf("the mail storage of %s has no bucket %q: 'mailhelm admin org mail-storage show %[1]s' shows the one in use", org.Slug, c.Bucket)
		}
		if err != nil {
			return errors.Join(fmt.Errorf("%s: %w", c.Bucket, err), printed.print(s))
		}
	}
	if err = printed.print(s); err == nil && len(printed.Failures) > 0 {
		return cli.ErrReported
	}
	return err
}

// printedBucket is the object that `mailhelm dmarc import --bucket --json` prints.
type printedBucket struct {
	Organization string           `json:"organization"`
	Bucket       string           `json:"bucket"`
	Objects      int              `json:"objects"`
	Reports      int              `json:"reports"`
	Duplicates   int              `json:"duplicates"`
	TLSReports   int              `json:"tls_reports"`
	OtherDomains int              `json:"reports_about_other_domains"`
	Failures     []printedFailure `json:"failures"`
}

// progressEvery is after how many objects a line says how far the command is. How many there are is
// not known before the end.
const progressEvery = 100

// add adds an object that was read.
func (p *printedBucket) add(s *installation.Session, f arrivals.File) {
	p.Objects++
	p.Reports, p.Duplicates = p.Reports+f.Counts.Reports, p.Duplicates+f.Counts.Duplicates
	p.TLSReports, p.OtherDomains = p.TLSReports+f.Counts.TLSReports, p.OtherDomains+f.Counts.Foreign
	if f.State == arrivals.Failed {
		p.Failures = append(p.Failures, printedFailure{f.Name, f.Problem})
	}
	if p.Objects%progressEvery == 0 {
		fmt.Fprintf(s.Stderr, "%d objects, %d reports\n", p.Objects, p.Reports)
	}
}

// print prints what was read.
func (p *printedBucket) print(s *installation.Session) error {
	if s.JSON {
		return s.PrintJSON(p)
	}
	for _, f := range p.Failures {
		fmt.Fprintf(s.Stderr, "%s: %s\n", safe(f.File), f.Error)
	}
	return s.PrintTable("", [][]string{
		{"organization", p.Organization},
		{"bucket", p.Bucket},
		{"objects read now", strconv.Itoa(p.Objects)},
		{"reports", strconv.Itoa(p.Reports)},
		{"known already", strconv.Itoa(p.Duplicates)},
		{"about SMTP TLS", strconv.Itoa(p.TLSReports)},
		{"about domains that are not of the organization", strconv.Itoa(p.OtherDomains)},
		{"without a report", strconv.Itoa(len(p.Failures))},
	})
}
