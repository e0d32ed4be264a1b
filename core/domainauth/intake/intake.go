package intake

import (
	"context"
	"io"
	"net/netip"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth/report"
	"github.com/mailhelm/mailhelm/core/domainauth/sources"
)

// Config has the dependencies of [Reader]. All fields are required, unless their comments say
// what the zero value means.
type Config struct {
	Store      Store
	Transactor core.Transactor
	Clock      core.Clock
	// Limits bounds files. The zero value is report.DefaultLimits.
	Limits report.Limits
	// Portion is the number of records that are stored in one transaction. The zero value is
	// 2000, for which SQLite's writer is held for some tenths of a second.
	Portion int
	// MaxSources is the number of sources that one report can have. The zero value is 10,000:
	// reports of the largest receivers name some thousand.
	MaxSources int
	// Senders returns the networks of known senders; nil means that they are not known.
	Senders func() *sources.SenderNetworks
	// ReverseNames returns the confirmed reverse names of addresses, as far as they are known
	// soon. nil means that none are known.
	ReverseNames func(ctx context.Context, addresses []netip.Addr) map[netip.Addr]string
}

// Reader reads files with reports into the database. It is safe for concurrent use.
type Reader struct{ Config }

// New returns a Reader.
func New(cfg Config) *Reader {
	if cfg.Limits == (report.Limits{}) {
		cfg.Limits = report.DefaultLimits
	}
	if cfg.Portion == 0 {
		cfg.Portion = 2000
	}
	if cfg.MaxSources == 0 {
		cfg.MaxSources = 10_000
	}
	return &Reader{cfg}
}

// Target says for whom a file is read.
type Target struct {
	OrgID string
	// Addressed is the name of the domain to whose address the file was mailed: only reports
	// about it, or about an enrolled domain below it, are taken. It is empty for a file that an
	// operator chose: then reports about every domain that the organization may send from are
	// taken, and the domains are enrolled.
	Addressed string
	// FileID is the id of the file in the list of files.
	FileID     string
	ReceivedAt time.Time
}

// Open opens a file from its beginning. It is called twice.
type Open func() (io.ReadCloser, error)

// Result says what a file had.
type Result struct {
	// Found is the number of reports of all kinds in the file.
	Found int
	// Reports is the number of reports that were taken, with Records and Messages in them.
	Reports, Records int
	Messages         int64
	// Duplicates counts reports that were known, TLSReports those about SMTP TLS, Foreign those
	// about other domains, and Unusable those without a usable period.
	Duplicates, TLSReports, Foreign, Unusable int
	// Warnings is the number of repairs in the reports that were taken.
	Warnings int
}

// Read reads one file. It fails with the errors of report.Unpack and of open. Reports before a
// damaged place in the file are kept.
func (r *Reader) Read(ctx context.Context, t Target, open Open) (Result, error) {
	b := r.Batch()
	result, err := b.Add(ctx, t, open)
	if flushed := b.Flush(ctx); flushed != nil {
		return Result{}, flushed
	}
	return *result, err
}
