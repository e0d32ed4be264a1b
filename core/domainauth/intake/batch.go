package intake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/domainauth/report"
	"github.com/mailhelm/mailhelm/core/domainauth/timeline"
	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
)

// Limits of batches and reports.
const (
	// maxReports is the number of reports that are stored in one transaction.
	maxReports = 1000
	// keptDays is the number of days for which figures are kept.
	keptDays = 731
	// maxCovered is the number of days that one report may cover.
	maxCovered = 31
	// maxAhead is how many days after today the day of a report may be. The clocks of reporters
	// differ, and a report may begin up to a day in the future.
	maxAhead = 2
)

// Batch stores files. It is not safe for concurrent use.
type Batch struct {
	reader  *Reader
	orgID   string
	pending []*pending
	// rows and size are the number of the records of pending, and the size of their texts.
	rows, size int
	// reversing is for how long the file's reverse names were asked for.
	reversing time.Duration
	// domains has the domains that reports were about, by their names.
	domains map[string]*known
	// identities has the reports that are read and not stored yet.
	identities map[string]bool
	// storing is the transaction that runs, nil for none.
	storing *storing
}

// pending is a report that was read and is not stored yet, or not counted yet.
type pending struct {
	report Report
	domain *known
	// rows are records that are not stored yet.
	rows []identified
	// size is that of the texts of rows in bytes.
	size int
	sums map[string]*sum // by the key of the source
	// begun reports whether the report and earlier records are stored.
	begun  bool
	result *Result
}

// Batch returns a new batch.
func (r *Reader) Batch() *Batch {
	return &Batch{reader: r, domains: map[string]*known{}, identities: map[string]bool{}}
}

// document is a report in a file.
type document struct {
	report *report.Report
	domain *known
}

// Add reads one file. Its reports are stored by the next Flush at the latest, after which the
// result is complete. Earlier ones are stored while it reads, so Add also fails with their errors.
// All files of a batch must be for one organization. A caller that adds no more must call Flush,
// also after an error.
func (b *Batch) Add(ctx context.Context, t Target, open Open) (*Result, error) {
	switch b.orgID {
	case t.OrgID:
	case "": // written once, because a transaction that stores earlier files reads it
		b.orgID = t.OrgID
	default:
		return nil, fmt.Errorf("intake: a batch for organization %s was given a file for %s", b.orgID, t.OrgID)
	}
	b.reversing = 0
	result := &Result{}
	taken := map[int]document{}
	headErr := b.each(open, func(n int, document io.Reader) error {
		r, err := report.Parse(document, func(*report.Record) error { return ctx.Err() })
		if err != nil {
			return countOther(err, result)
		}
		result.Found++
		d, err := b.take(ctx, t, r, result)
		if err == nil && d.domain != nil {
			taken[n] = d
		}
		return err
	})
	if ctx.Err() != nil || len(taken) == 0 {
		return result, headErr
	}
	err := b.each(open, func(n int, document io.Reader) error {
		d, ok := taken[n]
		if !ok {
			return nil
		}
		return b.read(ctx, t, d, document, result)
	})
	if err == nil || errors.Is(err, report.ErrCorrupt) || errors.Is(err, report.ErrTooLarge) {
		return result, headErr
	}
	return result, err
}

// each calls f for each document of a file, with its number.
func (b *Batch) each(open Open, f func(n int, document io.Reader) error) error {
	file, err := open()
	if err != nil {
		return err
	}
	n := 0
	err = report.Unpack(file, b.reader.Limits, func(document io.Reader) error {
		n++
		return f(n, document)
	})
	return errors.Join(err, file.Close())
}

// countOther counts a document that is no DMARC report. Others than TLS reports are ignored,
// because archives may have any files beside reports.
func countOther(err error, result *Result) error {
	switch {
	case errors.Is(err, report.ErrTLSReport):
		result.Found++
		result.TLSReports++
		return nil
	case errors.Is(err, report.ErrNotReport):
		return nil
	default:
		return err
	}
}

// take decides whether a report is read. The domain of the result is nil if it is not.
func (b *Batch) take(ctx context.Context, t Target, r *report.Report, result *Result) (document, error) {
	name, ok := dmarc.Name(r.Policy.Domain)
	if !ok {
		result.Foreign++
		return document{}, nil
	}
	r.Policy.Domain = name
	d, err := b.domainOf(ctx, t, name)
	if err != nil {
		return document{}, err
	}
	if d == nil {
		result.Foreign++
		return document{}, nil
	}
	now := b.reader.Clock()
	day := figures.DayOfReport(r.Begin, r.End)
	// The purge deletes by day, so a day of the far future would stay for ever.
	early, late := day.Before(figures.AddDays(now, 1-keptDays)), day.After(figures.AddDays(now, maxAhead))
	if r.Begin.IsZero() || r.Begin.After(now.Add(24*time.Hour)) || early || late {
		result.Unusable++
		return document{}, nil
	}
	identity := identityOf(r)
	known, err := b.isStored(ctx, t.OrgID, d.id, identity)
	if err != nil {
		return document{}, err
	}
	if known || b.identities[d.id+identity] {
		result.Duplicates++
		return document{}, nil
	}
	b.identities[d.id+identity] = true
	return document{report: r, domain: d}, nil
}

// domainOf returns the domain that a report is about, nil if it is not one of the target.
func (b *Batch) domainOf(ctx context.Context, t Target, name string) (*known, error) {
	if t.Addressed != "" && name != t.Addressed && !strings.HasSuffix(name, "."+t.Addressed) {
		return nil, nil //nolint:nilnil // no domain is no failure
	}
	if d, ok := b.domains[name]; ok {
		return d, nil
	}
	found, err := b.reader.Store.Target(ctx, t.OrgID, name)
	if core.IsNotFound(err) && t.Addressed == "" {
		found, err = b.enrol(ctx, t, name)
	}
	switch {
	case core.IsNotFound(err):
		b.domains[name] = nil
		return nil, nil //nolint:nilnil // no domain is no failure
	case err != nil:
		return nil, err
	}
	b.domains[name] = newKnown(found, b.reader)
	return b.domains[name], nil
}

// enrol adds a domain from which the organization may send.
func (b *Batch) enrol(ctx context.Context, t Target, name string) (Domain, error) {
	sends, err := b.reader.Store.Sends(ctx, t.OrgID, name)
	if err != nil {
		return Domain{}, err
	}
	if !sends {
		return Domain{}, core.NotFound("domain")
	}
	if err := b.reader.Store.AddDomain(ctx, t.OrgID, name, b.reader.Clock()); err != nil {
		return Domain{}, err
	}
	return b.reader.Store.Target(ctx, t.OrgID, name)
}

// isStored reports whether a report is counted. It removes one that was interrupted.
func (b *Batch) isStored(ctx context.Context, orgID, domainID, identity string) (bool, error) {
	s, err := b.reader.Store.Stored(ctx, orgID, domainID, identity)
	switch {
	case core.IsNotFound(err):
		return false, nil
	case err != nil || s.Counted:
		return err == nil, err
	}
	for gone := false; !gone; {
		if gone, err = b.reader.Store.Discard(ctx, orgID, s, b.reader.Portion); err != nil {
			return false, err
		}
	}
	return false, nil
}

// read reads the records of a report.
func (b *Batch) read(ctx context.Context, t Target, d document, from io.Reader, result *Result) error {
	p := &pending{domain: d.domain, sums: map[string]*sum{}, result: result, report: newReport(t, d)}
	chunk := newChunk(p)
	r, err := report.Parse(from, func(r *report.Record) error {
		chunk.add(r)
		if len(chunk.evidence) < b.reader.Portion && chunk.size < portionBytes {
			return nil
		}
		b.identify(ctx, chunk)
		return b.storePart(ctx, p)
	})
	if r == nil { // the file is not what it was
		return err
	}
	b.identify(ctx, chunk)
	p.report.Warnings = r.Warnings
	if b.size > 0 && b.size+p.size > portionBytes {
		if failed := b.start(ctx); failed != nil {
			return failed
		}
	}
	b.pending, b.rows, b.size = append(b.pending, p), b.rows+len(p.rows), b.size+p.size
	if b.rows >= b.reader.Portion || len(b.pending) >= maxReports {
		if failed := b.start(ctx); failed != nil {
			return failed
		}
	}
	return err
}

func newReport(t Target, d document) Report {
	r := d.report
	policy, _ := timeline.PolicyText(r.Policy)
	return Report{
		ID: core.NewID(), DomainID: d.domain.id, FileID: t.FileID, Identity: identityOf(r), Reporter: ReporterOf(r),
		Organization: r.Org, ReportID: r.ID, Begin: r.Begin, End: r.End, Day: figures.DayOfReport(r.Begin, r.End), Policy: policy, ReceivedAt: t.ReceivedAt,
	}
}
