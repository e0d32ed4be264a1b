package notices

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/domainauth/sources"
)

// Subscription is what a member is mailed about a domain. The zero value is nothing.
type Subscription struct {
	// Alerts turns on mails about unknown senders.
	Alerts bool
	// DigestAt is the time of the next weekly digest, nil for none.
	DigestAt *time.Time
}

// SubscriptionStore stores what members asked for. Every method takes part in the transaction of
// its context.
type SubscriptionStore interface {
	// Subscription returns the subscription of a member to a domain, the zero value without one.
	Subscription(ctx context.Context, orgID, domainID, userID string) (Subscription, error)
	// SaveSubscription replaces the subscription. The zero value deletes it.
	SaveSubscription(ctx context.Context, orgID, domainID, userID string, s Subscription) error
}

// Ref names a domain of an organization.
type Ref struct{ OrgID, DomainID, Domain string }

// Due is a digest that is due.
type Due struct {
	Ref
	UserID string
	// At is the time at which it became due.
	At time.Time
}

// Week has what happened in some days. Days are UTC days.
type Week struct {
	Messages, Passing int64
	// Stopped is the number of messages that receivers put into the spam folder or refused.
	Stopped int64
	// Unreviewed is the number of sources without a decision that were seen since the first day.
	Unreviewed int
	// Senders are those without a decision of which mail failed, most failing mail first.
	Senders []Sender
	// Findings are those that opened or closed, in the order in which they opened.
	Findings []Finding
	// Changes are those of DNS records, the oldest first.
	Changes []Change
}

// Sender is a source without a decision, with its messages in a week. Its name is that of
// outsiders.
type Sender struct {
	Name              string
	Classification    figures.Classification
	FirstDay          time.Time
	Messages, Failing int64
}

// Finding is a finding about a source, whose name is that of outsiders.
type Finding struct {
	Source, Name   string
	Classification figures.Classification
	Decision       figures.Decision
	sources.Finding
}

// Change is a change of a record, with its title for people. The title has parts of the record.
type Change struct {
	At    time.Time
	Title string
}

// The greatest numbers of entries in a mail.
const (
	MaxSenders  = 5
	MaxFindings = 20
	MaxChanges  = 20
)

// DigestStore finds digests that are due, and reads what is in them. Every method takes part in
// the transaction of its context.
type DigestStore interface {
	// DueDigests returns digests of all organizations that are due, the oldest first.
	DueDigests(ctx context.Context, now time.Time, limit int) ([]Due, error)
	// MoveDigest sets the time of the next digest. The result is false, and nothing was changed,
	// if the digest is not due at d.At any more.
	MoveDigest(ctx context.Context, d Due, next time.Time) (bool, error)
	// Week reads the days from one to another, which is not part of the week.
	Week(ctx context.Context, d Ref, from, to time.Time) (Week, error)
}

// AlertStore finds findings about which no member got a mail yet. Every method takes part in the
// transaction of its context.
type AlertStore interface {
	// DomainsWithNews returns domains of all organizations with findings that are not announced,
	// without those about which an alert was stored on the UTC day.
	DomainsWithNews(ctx context.Context, day time.Time, limit int) ([]Ref, error)
	// LockNews locks the domain until the transaction ends, so that no other process announces its
	// findings. The result is false if the domain is gone, or if its findings may be computed at
	// this time: if that is due and was begun after a time.
	LockNews(ctx context.Context, d Ref, begunAfter time.Time) (bool, error)
	// News returns the findings that are not announced, in the order in which they opened.
	News(ctx context.Context, d Ref) ([]Finding, error)
	// Announce marks all findings of the domain as announced.
	Announce(ctx context.Context, d Ref) error
	// Subscribers returns the ids of the members with alerts about the domain.
	Subscribers(ctx context.Context, d Ref) ([]string, error)
	// AlertedOn reports whether an alert about the domain was stored on the UTC day.
	AlertedOn(ctx context.Context, d Ref, day time.Time) (bool, error)
}

// Kind is a kind of mail.
type Kind string

// The kinds.
const (
	Digest Kind = "digest"
	Alert  Kind = "alert"
)

// Notice is a mail to one member.
type Notice struct {
	// ID is also the id of the send.
	ID string
	Ref
	UserID string
	Kind   Kind
	// Day is the UTC day on which it was decided. A member gets at most one mail of a kind about
	// a domain on one day.
	Day                 time.Time
	Subject, Text, HTML string
	// Attempts counts the attempts to pass it to the account.
	Attempts  int
	CreatedAt time.Time
}

// NoticeRef names a mail.
type NoticeRef struct{ OrgID, ID string }

// NoticeStore stores mails until they are sent. Every method takes part in the transaction of its
// context.
type NoticeStore interface {
	// AddNotice stores a mail that is due at once, unless the member has one of the kind on the
	// day. It forgets the member's old mails about the domain that have ended.
	AddNotice(ctx context.Context, n Notice) (bool, error)
	// DueNotices returns mails of all organizations to pass to the account, in the order of the
	// times at which they became due.
	DueNotices(ctx context.Context, now time.Time, limit int) ([]NoticeRef, error)
	// Notice returns a mail that has not ended. It fails with core.CodeNotFound if there is none.
	Notice(ctx context.Context, r NoticeRef) (Notice, error)
	// Postpone sets the number of attempts, and the time of the next one.
	Postpone(ctx context.Context, r NoticeRef, attempts int, until time.Time) error
	// EndNotice ends a mail: it was sent, or never will be. Its text is deleted.
	EndNotice(ctx context.Context, r NoticeRef) error
}
