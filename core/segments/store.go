package segments

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
)

// Store stores segments and evaluates predicates. Every method takes part in the transaction
// of its context and sees only the given organization. Methods that find one record fail
// with core.CodeNotFound.
type Store interface {
	// PredicateSchema returns the names that predicates of the organization may use,
	// without Activities.
	PredicateSchema(ctx context.Context, orgID string) (Schema, error)
	// SeenActivities returns names of activities, up to some hundreds.
	SeenActivities(ctx context.Context, orgID string) ([]string, error)

	// InsertSegment stores a new segment. It fails with core.CodeConflict when the key is
	// taken.
	InsertSegment(ctx context.Context, orgID string, s Segment) error
	// UpdateSegment replaces everything but the member count and the last evaluation.
	UpdateSegment(ctx context.Context, orgID string, s Segment) error
	// Segment returns a segment by id or, if ref is not an id, by key. LockSegment
	// returns a segment by id and locks it until the transaction ends.
	Segment(ctx context.Context, orgID, ref string) (Segment, error)
	LockSegment(ctx context.Context, orgID, id string) (Segment, error)
	// LockSegments prevents other transactions from locking any existing segment until this
	// one ends.
	LockSegments(ctx context.Context, orgID string) error
	// Segments returns a page, newest first by creation and id. CountSegments returns
	// the number of all that match.
	Segments(ctx context.Context, orgID string, f Filter) ([]Segment, error)
	CountSegments(ctx context.Context, orgID string, f Filter) (int, error)
	// AllSegments returns the segments of the organization in order of creation,
	// including archived ones.
	AllSegments(ctx context.Context, orgID string) ([]Segment, error)

	// SegmentMembers returns a page of contacts, newest entry first.
	SegmentMembers(ctx context.Context, orgID, segmentID string, after *core.After, limit int) ([]Member, error)
	// IsSegmentMember reports whether a contact, by id or by address, is in the segment.
	IsSegmentMember(ctx context.Context, orgID, segmentID, contact string) (bool, error)

	// CountMatching returns the number of contacts that match a question. Examples
	// returns the first of them by id.
	CountMatching(ctx context.Context, q Question) (int, error)
	Examples(ctx context.Context, q Question, limit int) ([]Example, error)
	// CountSource returns the number of events of a source in its windows, or of
	// contacts if source is nil, up to a limit.
	CountSource(ctx context.Context, q Question, source *predicate.EventSource, limit int) (int, error)
	// Differing returns at most limit contacts that match and are not members, or the
	// reverse.
	Differing(ctx context.Context, q Question, segmentID string, limit int) ([]string, error)
	// JudgeMembers updates the membership of the contacts of q, logs those that entered
	// and left, and stores the time of the evaluation.
	JudgeMembers(ctx context.Context, q Question, segmentID string) (entered, left int, err error)
	// SetEvaluatedAt stores that all contacts were evaluated at this time.
	SetEvaluatedAt(ctx context.Context, orgID, segmentID string, at time.Time) error

	// SegmentsOf returns the number of segments that a contact is in, without archived
	// ones.
	SegmentsOf(ctx context.Context, orgID, contactID string) (int, error)

	// Touch stores that contacts changed. TouchRecipients does so for the contacts whose
	// lower-case address is in keys, unless the organization has no active segment. Touches
	// returns the oldest touches, and Untouch deletes touches by their ids.
	Touch(ctx context.Context, orgID string, contactIDs []string) error
	TouchRecipients(ctx context.Context, orgID string, keys []string) error
	Touches(ctx context.Context, orgID string, limit int) ([]Touch, error)
	Untouch(ctx context.Context, orgID string, ids []string) error

	// ReplaceSuppressed replaces the copy of the account's own list by these lower-case
	// addresses.
	ReplaceSuppressed(ctx context.Context, orgID string, keys []string) error
}

// Schema has the names that predicates may use, with the columns of attributes.
type Schema struct {
	predicate.Schema
	// Slots has columns by attribute, for attributes that have one.
	Slots map[string]string
}

// Filter selects segments. The zero value of a field matches all.
type Filter struct {
	Status Status
	// Query matches a part of the name or the key, ignoring case.
	Query string
	After *core.After
	Limit int
}

// Question is a predicate with everything that its result depends on.
type Question struct {
	OrgID     string
	Predicate *predicate.Checked
	Slots     map[string]string
	Now       time.Time
	// Contacts limits the question to contacts with these ids; nil means all.
	Contacts []string
}

// Touch records that a contact changed and has to be evaluated.
type Touch struct{ ID, ContactID string }
