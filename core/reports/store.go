package reports

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Store stores counts of events per day and per hour. Every method takes part in the
// transaction of ctx and sees only the given organization.
type Store interface {
	// Mark stores marks, the keys of unique opens and clicks (see markOf). It returns the
	// marks that were not stored before. The given marks are sorted and distinct.
	Mark(ctx context.Context, orgID string, marks []string) (fresh []string, err error)
	// CountDays adds the counts in rows to the daily counts. The rows are sorted by Subject,
	// and no two rows have the same Subject.
	CountDays(ctx context.Context, orgID string, rows []Counted) error
	// CountHours adds the counts in rows to the hourly counts. The rows are sorted by
	// Subject, and no two rows have the same Subject.
	CountHours(ctx context.Context, orgID string, rows []Counted) error
	// CountBounces adds the numbers in rows to the stored numbers of bounces by day and
	// domain. The rows are sorted and distinct.
	CountBounces(ctx context.Context, orgID string, rows []DomainBounces) error

	// DayCounts returns the daily counts that match the filter, one row per day, in no
	// particular order.
	DayCounts(ctx context.Context, orgID string, f Filter) ([]DayCounts, error)
	// GroupCounts returns the daily counts that match the filter, summed by channel and
	// template.
	GroupCounts(ctx context.Context, orgID string, f Filter) ([]GroupCounts, error)
	// HourCounts returns the hourly counts that match the filter, summed by channel and
	// template.
	HourCounts(ctx context.Context, orgID string, f Filter) ([]GroupCounts, error)
	// FromEvents counts the stored events of the messages that match the filter, by channel
	// and template. Several rows of the result may have the same channel and template.
	FromEvents(ctx context.Context, orgID string, f Filter) ([]GroupCounts, error)
	// AnyMessage reports whether any message was sent in the window.
	AnyMessage(ctx context.Context, orgID string, w core.Window) (bool, error)

	// FailingDomains returns the recipients' domains with the most bounces of messages sent
	// in the window. The domain with the most bounces comes first. The window must begin at
	// a midnight.
	FailingDomains(ctx context.Context, orgID string, w core.Window, limit int) ([]DomainBounces, error)
	// RecentBounces returns the latest bounces in the window, newest first. Their messages
	// must have been sent in the window and must not be test messages.
	RecentBounces(ctx context.Context, orgID string, w core.Window, limit int) ([]Bounce, error)
}

// Filter selects the messages whose events are counted. Channel is the provider's name of a
// channel, and Identity the sender's domain in lower case. "" matches all.
type Filter struct {
	core.Window
	Channel, Identity string
}

// Counts has the number of events of each kind. Suppressed counts messages that the
// provider rejected. UniqueOpens and UniqueClicks count each recipient of a message once.
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

// Subject is the key of a row of counts. From is the start of a UTC day or hour. Channel is
// the provider's name, and Identity the sender's domain. Channel and Template are "" for
// messages without them.
type Subject struct {
	From                        time.Time
	Channel, Identity, Template string
}

// Counted has the counts of messages of one Subject, which is the time span, channel,
// identity and template that were counted.
type Counted struct {
	Subject
	Counts
}

// DayCounts has the counts of one UTC day, or of the period that begins on it.
type DayCounts struct {
	Day time.Time
	Counts
}

// Group is a combination of channel and template by which counts are summed.
type Group struct{ Channel, Template string }

// GroupCounts has the counts of one channel and template.
type GroupCounts struct {
	Group
	Counts
}

// DomainBounces is the number of bounces of addresses of one domain, for messages sent on
// one UTC day. In results of FailingDomains, Day is zero and Bounced is the sum over all
// days.
type DomainBounces struct {
	Day     time.Time
	Domain  string
	Bounced int64
}

// Bounce is a bounce event as the dashboard shows it. Type and SubType are the provider's
// values.
type Bounce struct {
	At                time.Time
	MessageID         string
	Recipient         string
	Type, SubType     string
	Channel, Template string
}
