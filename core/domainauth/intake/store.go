package intake

import (
	"context"
	"net/netip"
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/domainauth/lookup"
	"github.com/mailhelm/mailhelm/core/domainauth/report"
)

// Store stores reports. Every method takes part in the transaction of its context.
type Store interface {
	// Target returns the domain with a name, or a NotFound error.
	Target(ctx context.Context, orgID, name string) (Domain, error)
	// Sends reports whether the organization may send from the domain: a verified identity of its
	// sending account is the domain or one above it.
	Sends(ctx context.Context, orgID, name string) (bool, error)
	// AddDomain enrols a domain, unless it is there.
	AddDomain(ctx context.Context, orgID, name string, now time.Time) error

	// Stored returns what is stored of a report about a domain, or a NotFound error.
	Stored(ctx context.Context, orgID, domainID, identity string) (Stored, error)
	// Discard removes at most limit records of a report that was not counted, and the report when
	// none is left. It returns whether the report is gone.
	Discard(ctx context.Context, orgID string, s Stored, limit int) (bool, error)
	// LockDomains locks domains until the end of the transaction.
	LockDomains(ctx context.Context, orgID string, ids []string) error
	// AddReports stores reports, and returns the identities of those that were there.
	AddReports(ctx context.Context, orgID string, all []Report) (map[string]bool, error)
	// AddRows stores records.
	AddRows(ctx context.Context, orgID string, rows []Row) error
	// Finish counts a report whose records are stored. It reports false if the report is gone.
	Finish(ctx context.Context, orgID string, r Report) (bool, error)

	// Sources returns the sources of a domain with these keys.
	Sources(ctx context.Context, orgID, domainID string, keys []string) ([]Source, error)
	// SaveSources adds sources, or stores what is known of them now.
	SaveSources(ctx context.Context, orgID string, all []Source) error
	// AddFigures adds messages to the figures of days and months.
	AddFigures(ctx context.Context, orgID string, f Figures) error
}

// Domain is a domain whose reports are read.
type Domain struct {
	ID, Name string
	// Snapshot has the last answers of DNS, nil before the first.
	Snapshot *lookup.Snapshot
}

// Stored is what is stored of a report.
type Stored struct {
	ID, DomainID string
	Day          time.Time
	Counted      bool
}

// Report is a report about one domain.
type Report struct {
	ID, DomainID, FileID string
	// Identity is the same for copies of the report.
	Identity string
	// Reporter is a name for who reports that is the same in all its reports.
	Reporter, Organization, ReportID string
	Begin, End, Day                  time.Time
	// Policy is the policy that the reporter found, as the text of a record, "" without one.
	Policy  string
	Counted bool
	Records int
	// Messages and Passing are at most MaxMessages for each record.
	Messages, Passing int64
	Warnings          []report.Warning
	ReceivedAt        time.Time
}

// MaxMessages is the largest number of messages that one record, and one cell of the figures,
// counts. Reporters state any number, and sums must not overflow.
const MaxMessages = 1 << 40

// Row is a record of a report.
type Row struct {
	DomainID, ReportID, SourceID string
	Day                          time.Time
	N                            int
	IP                           netip.Addr
	Messages                     int64
	Disposition                  string
	DKIM, SPF, Relayed           bool
	HeaderFrom, EnvelopeFrom     string
	// Details has the JSON of the results of signatures and SPF, and of the reasons.
	Details string
}

// Source is a source of mail of a domain.
type Source struct {
	DomainID, ID, Key, Name, Provider string
	Classification                    figures.Classification
	// Support says which days support which classification.
	Support Support
	// First and Last are the days with messages; both zero before a report of it is counted.
	First, Last time.Time
	IPs         []string
}

// Cell is a column of the figures.
type Cell struct {
	// Disposition is none, quarantine or reject. Outcome is both, dkim, spf, fail or relayed.
	Disposition, Outcome string
}

// Cells are numbers of messages.
type Cells map[Cell]int64

// SourceDay names the figures of one source and day.
type SourceDay struct {
	DomainID, SourceID string
	Day                time.Time
}

// ReporterDay is a day that the reports of a reporter cover.
type ReporterDay struct {
	DomainID, Reporter string
	Day                time.Time
}

// Figures has what reports add to the figures.
type Figures struct {
	Messages map[SourceDay]Cells
	Coverage map[ReporterDay]bool
	// Received has the time at which the last report of a domain was received, by its id.
	Received map[string]time.Time
	Now      time.Time
}
