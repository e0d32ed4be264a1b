package reports

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Store stores the counts of whole days and hours. Every method takes part in the
// transaction of its context and sees only the given organization.
type Store interface {
	// Mark stores marks and returns those that were new. The given marks are sorted and
	// distinct.
	Mark(ctx context.Context, orgID string, marks []string) (fresh []string, err error)
	// CountDays adds rows to the daily counts. The rows are sorted and have distinct
	// subjects.
	CountDays(ctx context.Context, orgID string, rows []Counted) error
	// CountHours adds rows to the hourly counts, as CountDays does.
	CountHours(ctx context.Context, orgID string, rows []Counted) error
	// CountBounces adds rows to the bounces by domain. The rows are sorted and distinct.
	CountBounces(ctx context.Context, orgID string, rows []DomainBounces) error

	// DayCounts returns the daily counts in the window that pass the filter, one row a day,
	// in no order.
	DayCounts(ctx context.Context, orgID string, f Filter) ([]DayCounts, error)
	// GroupCounts returns the sums of the daily counts by channel and template.
	GroupCounts(ctx context.Context, orgID string, f Filter) ([]GroupCounts, error)
	// HourCounts returns the sums of the hourly counts in the window by channel and
	// template.
	HourCounts(ctx context.Context, orgID string, f Filter) ([]GroupCounts, error)
	// FromEvents counts the events of the messages that were sent in the window, by
	// channel and template. A group may have several rows.
	FromEvents(ctx context.Context, orgID string, f Filter) ([]GroupCounts, error)
	// AnyMessage reports whether any message was sent in the window.
	AnyMessage(ctx context.Context, orgID string, w core.Window) (bool, error)

	// FailingDomains returns the domains with the most bounces of messages sent in a
	// window, most first. The window must begin at a midnight.
	FailingDomains(ctx context.Context, orgID string, w core.Window, limit int) ([]DomainBounces, error)
	// RecentBounces returns bounces in the window of messages that were sent in it,
	// newest first, without those of test messages.
	RecentBounces(ctx context.Context, orgID string, w core.Window, limit int) ([]Bounce, error)
}

// Filter selects what is counted. Channel is the name at the provider, Identity a domain
// in lower case; "" matches all.
type Filter struct {
	core.Window
	Channel, Identity string
}

// Counts has the number of events of each kind. Suppressed counts messages that the
// provider rejected. Unique opens and clicks count each recipient of a message once,
// whenever the event happened.
type Counts struct {
	Sent         int64 `json:"sent"`
	Delivered    int64 `json:"delivered"`
	Bounced      int64 `json:"bounced"`
	Complained   int64 `json:"complained"`
	Suppressed   int64 `json:"suppressed"`
	Opens        int64 `json:"opens"`
	UniqueOpens  int64 `json:"unique_opens"`
	Clicks       int64 `json:"clicks"`
	UniqueClicks int64 `json:"unique_clicks"`
}

// Subject is the key of a row of counts: a UTC day or hour, by its start, a channel, an
// identity and a template. "" means no channel or template.
type Subject struct {
	From                        time.Time
	Channel, Identity, Template string
}

// Counted has the counts of a subject.
type Counted struct {
	Subject
	Counts
}

// DayCounts has the counts of a UTC day.
type DayCounts struct {
	Day time.Time
	Counts
}

// Group is a channel and a template.
type Group struct{ Channel, Template string }

// GroupCounts has the counts of a group.
type GroupCounts struct {
	Group
	Counts
}

// DomainBounces is the number of bounces from a domain on a UTC day. FailingDomains sums
// over days and leaves Day zero.
type DomainBounces struct {
	Day     time.Time
	Domain  string
	Bounced int64
}

// Bounce is a bounce event. Type and SubType are the provider's values.
type Bounce struct {
	At                time.Time
	MessageID         string
	Recipient         string
	Type, SubType     string
	Channel, Template string
}
