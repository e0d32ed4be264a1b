package reports

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Store keeps the counts of whole days and hours. Everything takes part in the transaction
// of its context and sees only the organization it is given.
type Store interface {
	// Mark remembers marks and returns those that were not there yet. They are
	// sorted and differ from one another.
	Mark(ctx context.Context, orgID string, marks []string) (fresh []string, err error)
	// CountDays adds to what is counted of days. The rows are sorted, and no two are
	// about the same.
	CountDays(ctx context.Context, orgID string, rows []Counted) error
	// CountHours is CountDays for hours.
	CountHours(ctx context.Context, orgID string, rows []Counted) error
	// CountBounces adds to the bounces by domain; the same holds for its rows.
	CountBounces(ctx context.Context, orgID string, rows []DomainBounces) error

	// ByDay sums the whole days in the window that pass the filter, each day by
	// itself, in no order.
	ByDay(ctx context.Context, orgID string, f Filter) ([]DayCounts, error)
	// ByGroup is ByDay for channels and templates instead of days.
	ByGroup(ctx context.Context, orgID string, f Filter) ([]GroupCounts, error)
	// ByHours is ByGroup for the whole hours in the window.
	ByHours(ctx context.Context, orgID string, f Filter) ([]GroupCounts, error)
	// FromEvents counts by channel and template from the events of the messages that
	// were sent in the window. A group may come in several rows.
	FromEvents(ctx context.Context, orgID string, f Filter) ([]GroupCounts, error)
	// AnyMessage reports whether any message was sent in the window.
	AnyMessage(ctx context.Context, orgID string, w core.Window) (bool, error)

	// FailingDomains are the domains with the most bounces of messages that were sent in
	// a window that begins at a midnight, most first.
	FailingDomains(ctx context.Context, orgID string, w core.Window, limit int) ([]DomainBounces, error)
	// RecentBounces are the newest bounces in the window of messages that were sent in
	// it, newest first, without those of test messages.
	RecentBounces(ctx context.Context, orgID string, w core.Window, limit int) ([]Bounce, error)
}

// Filter narrows what is counted. Channel is the name at the provider, Identity a
// domain in lower case; "" is all of them.
type Filter struct {
	core.Window
	Channel, Identity string
}

// Counts is how often each thing happened. Suppressed are messages that the
// provider rejected. A unique open or click is that of one recipient of one
// message, whenever it happened.
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

// Subject is what is counted apart from everything else: a UTC day or hour, by its
// start, a channel, an identity and a template. "" is no channel or template.
type Subject struct {
	From                        time.Time
	Channel, Identity, Template string
}

// Counted is what was counted of a subject.
type Counted struct {
	Subject
	Counts
}

// DayCounts is what was counted of a UTC day.
type DayCounts struct {
	Day time.Time
	Counts
}

// Group is a channel and a template.
type Group struct{ Channel, Template string }

// GroupCounts is what was counted of a group.
type GroupCounts struct {
	Group
	Counts
}

// DomainBounces is how often mail to a domain bounced on a UTC day. FailingDomains
// sums over days and leaves Day zero.
type DomainBounces struct {
	Day     time.Time
	Domain  string
	Bounced int64
}

// Bounce is one that happened. Type and SubType are the provider's words.
type Bounce struct {
	At                time.Time
	MessageID         string
	Recipient         string
	Type, SubType     string
	Channel, Template string
}
