package broadcasts

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mailhelm/mailhelm/core/handover"
)

// Target is the list or segment of a broadcast, and which of its members get the message.
type Target struct {
	AudienceKind AudienceKind
	AudienceID   string
	// Share selects a part of the members, nil for all.
	Share *Share
}

// Share is a part of the contacts of an organization, chosen by the ends of their ids, which
// are random. So a contact is in the same part at each look.
type Share struct {
	// From and To bound the last twelve characters of the id: From is in, To is not.
	From, To string
	// Rest selects the other contacts instead.
	Rest bool
}

// Audience is a list or a segment whose members get a broadcast.
type Audience struct {
	Kind AudienceKind
	ID   string
	Name string
	// Warning says why the members may not be up to date, "" for no reason.
	Warning string
}

// Audiences finds lists and segments.
type Audiences interface {
	// Audience returns the list or segment that has ref as its id, else as its key. It fails
	// with core.CodeNotFound for an unknown or archived one.
	Audience(ctx context.Context, orgID string, kind AudienceKind, ref string) (Audience, error)
}

// Reach says how many members of an audience get a message, and why the others do not.
type Reach struct {
	Size int
	// Mailable is the number of members that pass all checks. ByAccount and ByTopic are the
	// others, by the first check that they do not pass.
	Mailable, ByAccount, ByTopic int
}

// Resolution says from where the values of one variable come, as numbers of members.
type Resolution struct {
	Variable string
	// ByAttribute members have a value of their own, ByDefault members get that of the
	// broadcast, and Blank members get nothing.
	ByAttribute, ByDefault, Blank int
}

// Member is a recipient of a broadcast with what is needed to judge it and to render its
// message.
type Member struct {
	ContactID, Email string
	// Attributes is a JSON object with the values of the contact's attributes.
	Attributes json.RawMessage
	// Tier is the check that the member does not pass, "" if it may get the message.
	Tier handover.Tier
}

// AudienceStore reads and copies audiences. Every method sees only the given organization
// and takes part in the transaction of its context. topic is the name of a topic, "" for
// none.
type AudienceStore interface {
	// Freeze stores the members of the audience as pending recipients of the broadcast, in one
	// statement, and returns their number.
	Freeze(ctx context.Context, orgID string, b Broadcast, now time.Time) (int, error)
	// Reach judges all members of the audience as they are now.
	Reach(ctx context.Context, orgID string, t Target, topic string) (Reach, error)
	// WithAttribute returns, for each attribute, how many members of the audience have a
	// value that is not an empty text.
	WithAttribute(ctx context.Context, orgID string, t Target, attributes []string) (map[string]int, error)
	// Members returns and judges the contacts with these ids, in no particular order. It
	// skips ids of no contact.
	Members(ctx context.Context, orgID, topic string, contactIDs []string) ([]Member, error)
	// MemberByEmail returns the contact with the address, and false if there is none. It does
	// not judge the contact.
	MemberByEmail(ctx context.Context, orgID, email string) (Member, bool, error)
	// Samples returns the ids of up to limit members of the audience, mailable ones first.
	Samples(ctx context.Context, orgID string, t Target, topic string, limit int) ([]string, error)
}
