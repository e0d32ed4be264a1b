package segments

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
)

// Store stores segments, evaluates predicates and updates members. Every method takes part
// in the transaction of its context and sees only the given organization. Methods that find
// one record fail with core.CodeNotFound if there is none.
type Store interface {
	// PredicateSchema returns the attributes, topics, lists, segments and properties that
	// predicates of the organization may name. It does not set Activities.
	PredicateSchema(ctx context.Context, orgID string) (Schema, error)
	// SeenActivities returns names of recorded activities, at most a few hundred, for
	// suggestions in error messages.
	SeenActivities(ctx context.Context, orgID string) ([]string, error)

	// InsertSegment stores a new segment. It fails with core.CodeConflict if another segment
	// has the key.
	InsertSegment(ctx context.Context, orgID string, s Segment) error
	// UpdateSegment replaces all fields of the segment except the member count and the time
	// of the last evaluation.
	UpdateSegment(ctx context.Context, orgID string, s Segment) error
	// Segment returns the segment with the id ref or, if ref is not an id, with the key ref.
	// LockSegment returns the segment with the id and locks it until the transaction ends.
	Segment(ctx context.Context, orgID, ref string) (Segment, error)
	LockSegment(ctx context.Context, orgID, id string) (Segment, error)
	// LockSegments prevents other transactions from locking any segment of the organization
	// until this transaction ends.
	LockSegments(ctx context.Context, orgID string) error
	// Segments returns one page of the segments that match the filter, newest first by
	// creation time and id. CountSegments returns the number of all segments that match.
	Segments(ctx context.Context, orgID string, f Filter) ([]Segment, error)
	CountSegments(ctx context.Context, orgID string, f Filter) (int, error)
	// AllSegments returns all segments of the organization, including archived ones, in the
	// order of their creation.
	AllSegments(ctx context.Context, orgID string) ([]Segment, error)

	// SegmentMembers returns one page of the members of a segment, most recently entered
	// first.
	SegmentMembers(ctx context.Context, orgID, segmentID string, after *core.After, limit int) ([]Member, error)
	// IsSegmentMember reports whether a contact is in the segment. contact is the id or the
	// address of the contact.
	IsSegmentMember(ctx context.Context, orgID, segmentID, contact string) (bool, error)

	// CountMatching returns the number of contacts that match the predicate of q. Examples
	// returns the first of these contacts, sorted by id.
	CountMatching(ctx context.Context, q Question) (int, error)
	Examples(ctx context.Context, q Question, limit int) ([]Example, error)
	// CountSource returns the number of events of all contacts that source selects; it does
	// not evaluate the predicate of q. If source is nil, it counts contacts instead. It
	// stops counting at limit.
	CountSource(ctx context.Context, q Question, source *predicate.EventSource, limit int) (int, error)
	// DifferingContacts returns the ids of contacts whose membership is wrong: contacts
	// that match the predicate and are not members, or are members and do not match. limit
	// is the maximum number of ids.
	DifferingContacts(ctx context.Context, q Question, segmentID string, limit int) ([]string, error)
	// JudgeMembers updates the segment's members among the contacts of the question q, and
	// stores the time of the evaluation. It writes each contact that entered or left the
	// segment to the membership log. It returns the number of contacts that entered and the
	// number that left.
	JudgeMembers(ctx context.Context, q Question, segmentID string) (entered, exited int, err error)
	// SetEvaluatedAt stores the time at which all contacts were evaluated for the segment.
	SetEvaluatedAt(ctx context.Context, orgID, segmentID string, at time.Time) error

	// SegmentsOf returns the number of segments that a contact is in. It does not count
	// archived segments.
	SegmentsOf(ctx context.Context, orgID, contactID string) (int, error)

	// Touch stores a note that each of these contacts has changed. TouchRecipients does so
	// for the contacts whose lower-case address is in keys, unless the organization has no
	// active segment. Touches returns the oldest notes. Untouch deletes notes by their ids.
	Touch(ctx context.Context, orgID string, contactIDs []string) error
	TouchRecipients(ctx context.Context, orgID string, keys []string) error
	Touches(ctx context.Context, orgID string, limit int) ([]Touch, error)
	Untouch(ctx context.Context, orgID string, ids []string) error

	// ReplaceSuppressed replaces the stored copy of the sending account's suppression list.
	// keys are the addresses of the new copy, in lower case.
	ReplaceSuppressed(ctx context.Context, orgID string, keys []string) error
}

// Schema has the names that predicates may use, and the database columns of attributes.
type Schema struct {
	predicate.Schema
	// Slots maps the name of an attribute to the database column that holds its values, for
	// attributes that have one.
	Slots map[string]string
}

// Filter selects a page of segments. The zero value of Status or Query matches all
// segments.
type Filter struct {
	Status Status
	// Query selects segments whose name or key contains this text, ignoring case.
	Query string
	After *core.After
	Limit int
}

// Question is a predicate to evaluate, with the organization, the time and the contacts for
// which it is evaluated.
type Question struct {
	OrgID     string
	Predicate *predicate.Checked
	Slots     map[string]string
	Now       time.Time
	// Contacts has the ids of the contacts to evaluate; nil means all contacts.
	Contacts []string
}

// Touch is a stored note that a contact has changed and has to be evaluated.
type Touch struct{ ID, ContactID string }
