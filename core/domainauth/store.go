package domainauth

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/comparison"
	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/domainauth/readiness"
	"github.com/mailhelm/mailhelm/core/domainauth/timeline"
)

// Store stores domains. Every method takes part in the transaction of its context. Methods that
// find one record fail with core.CodeNotFound if the organization does not have it.
type Store interface {
	// Enrol adds the verified sending domains of an organization that are not there yet.
	Enrol(ctx context.Context, orgID string, now time.Time) error
	// Domains returns at most limit domains in the order of their names, after a name.
	Domains(ctx context.Context, orgID, after string, limit int) ([]Domain, error)
	// CountDomains returns the number of domains.
	CountDomains(ctx context.Context, orgID string) (int, error)
	// Domain returns the domain with a name. In a transaction it locks the domain.
	Domain(ctx context.Context, orgID, name string) (Domain, error)
	// SaveAcknowledgement stores the latest acknowledgement of a domain.
	SaveAcknowledgement(ctx context.Context, orgID, domainID string, a readiness.Acknowledgement) error
}

// FigureStore reads numbers of messages. Days are UTC days; a window is from its first day to a
// last one that is not part of it.
type FigureStore interface {
	// Summaries returns what is known of domains, by their ids.
	Summaries(ctx context.Context, orgID string, domainIDs []string, w Days) (map[string]Summary, error)
	// Totals returns the days of the window that reports cover, in order.
	Totals(ctx context.Context, orgID, domainID string, w Days) ([]Day, error)
	// Rows returns the messages by day and source.
	Rows(ctx context.Context, orgID, domainID string, w Days) ([]figures.Row, error)
	// Coverage returns the days that reports cover, for each reporter.
	Coverage(ctx context.Context, orgID, domainID string, w Days) ([]readiness.Coverage, error)
}

// SourceStore stores the sources of domains.
type SourceStore interface {
	// Sources returns sources with messages in a window, those with most messages first, then by
	// id, and the number of all that the filter selects, which is 0 after the last one.
	Sources(ctx context.Context, orgID, domainID string, f SourceFilter, after *SourcePlace, limit int) ([]Source, int, error)
	// Source returns one source with its messages in the window, also without messages.
	Source(ctx context.Context, orgID, domainID, id string, w Days) (Source, error)
	// Decide stores a decision about a source.
	Decide(ctx context.Context, orgID, domainID, id string, d figures.Decision, by string, at time.Time) error
	// Registry returns all sources.
	Registry(ctx context.Context, orgID, domainID string) ([]readiness.Source, error)
	// Names returns the names of sources by their ids.
	Names(ctx context.Context, orgID, domainID string) (map[string]string, error)
}

// TimelineStore stores the events of domains.
type TimelineStore interface {
	// Events returns events, newest first.
	Events(ctx context.Context, orgID, domainID string, f EventFilter) ([]Event, error)
	// CountEvents returns the number of events that the filter selects, without its place.
	CountEvents(ctx context.Context, orgID, domainID string, f EventFilter) (int, error)
	// Event returns the event with an id.
	Event(ctx context.Context, orgID, domainID, id string) (Event, error)
	// Changes returns all events that change mail.
	Changes(ctx context.Context, orgID, domainID string) ([]timeline.Event, error)
	// InsertEvent stores an event.
	InsertEvent(ctx context.Context, orgID, domainID string, e Event, actor string) error
	// Stated returns the policies that polls and reports state, each with the time at which it
	// was there for certain first.
	Stated(ctx context.Context, orgID, domainID, subject string) ([]Stated, error)
}

// Measurer measures domains.
type Measurer interface {
	// Request has a domain measured soon, if its last requested measurement is an hour ago. It
	// takes part in the transaction of ctx. retryAfter is 0 if the measurement is queued.
	Request(ctx context.Context, orgID, domainID string, now time.Time) (queued bool, retryAfter time.Duration, err error)
}

// Days is a window of UTC days: from From to To, which is not part of it.
type Days struct{ From, To time.Time }

// Summary has what the posture of a domain shows beside its records.
type Summary struct {
	CoverageDays         int
	Messages, Passing    int64
	Confirmed, Rejected  int
	Unreviewed, Findings int
}

// Day has the messages of one UTC day.
type Day struct {
	Date                             time.Time
	SPFOnly, DKIMOnly, Both, Failing int64
	None, Quarantined, Rejected      int64
}

// SourceFilter selects sources. Empty fields select all.
type SourceFilter struct {
	Days           Days
	Decision       figures.Decision
	Classification figures.Classification
}

// SourcePlace is the place of a source in a list.
type SourcePlace struct {
	Messages int64
	ID       string
}

// Stated is a policy record, and when it was seen first.
type Stated struct {
	Text string
	Seen time.Time
}

// keptFrom returns the first day from which all figures are kept.
func keptFrom(now time.Time) time.Time { return figures.AddDays(now, 1-RetentionDays) }

// window returns the days that the figures of readiness and posture have: the 30 complete ones
// before today.
func window(now time.Time) Days {
	return Days{From: figures.AddDays(now, -readiness.WindowDays), To: figures.DayOf(now)}
}

// around returns the days that a comparison may need.
func around(at time.Time) Days {
	const guard = 4 // the day of the change and those that the guard band touches
	return Days{From: figures.AddDays(at, -comparison.MaxWindowDays-guard), To: figures.AddDays(at, comparison.MaxWindowDays+guard)}
}
