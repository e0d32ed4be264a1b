package segments

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
)

// Store keeps segments and evaluates predicates. Every method takes part in the transaction
// of its context and sees only the given organization. Methods that find one record fail
// with core.CodeNotFound.
type Store interface {
	// PredicateSchema returns what predicates of the organization may name, without
	// Activities.
	PredicateSchema(ctx context.Context, orgID string) (Schema, error)
	// SeenActivities returns names of activities, up to some hundreds.
	SeenActivities(ctx context.Context, orgID string) ([]string, error)

	// InsertSegment stores a new segment. It fails with core.CodeConflict when the key is
	// taken.
	InsertSegment(ctx context.Context, orgID string, s Segment) error
	// UpdateSegment replaces everything but member count and last evaluation.
	UpdateSegment(ctx context.Context, orgID string, s Segment) error
	// Segment finds by id or, when ref is no id, by key. LockSegment is Segment by id that
	// keeps others from locking it until the transaction ends.
	Segment(ctx context.Context, orgID, ref string) (Segment, error)
	LockSegment(ctx context.Context, orgID, id string) (Segment, error)
	// LockSegments prevents other transactions from locking any existing segment until this
	// one ends.
	LockSegments(ctx context.Context, orgID string) error
	// Segments is one page, newest first by creation and id; CountSegments is of all.
	Segments(ctx context.Context, orgID string, f Filter) ([]Segment, error)
	CountSegments(ctx context.Context, orgID string, f Filter) (int, error)
	// AllSegments are the segments of the organization, archived ones too, by creation.
	AllSegments(ctx context.Context, orgID string) ([]Segment, error)

	// SegmentMembers is one page of contacts, newest entry first.
	SegmentMembers(ctx context.Context, orgID, segmentID string, after *core.After, limit int) ([]Member, error)
	// IsSegmentMember looks for a contact by id or by address.
	IsSegmentMember(ctx context.Context, orgID, segmentID, contact string) (bool, error)

	// CountMatching returns how many contacts match a question. Examples returns the first
	// of them by id.
	CountMatching(ctx context.Context, q Question) (int, error)
	Examples(ctx context.Context, q Question, limit int) ([]Example, error)
	// CountSource counts the events of a source in its windows, or with nil the contacts, up
	// to a limit.
	CountSource(ctx context.Context, q Question, source *predicate.EventSource, limit int) (int, error)
	// Differing returns contacts, at most limit, that match and are not members, or the
	// reverse.
	Differing(ctx context.Context, q Question, segmentID string, limit int) ([]string, error)
	// JudgeMembers updates the membership of the contacts of q, logs who entered and left,
	// and notes the evaluation.
	JudgeMembers(ctx context.Context, q Question, segmentID string) (entered, left int, err error)
	// SegmentEvaluated notes that all contacts were judged at this time.
	SegmentEvaluated(ctx context.Context, orgID, segmentID string, at time.Time) error

	// SegmentsOf counts the segments, not archived, that a contact is in.
	SegmentsOf(ctx context.Context, orgID, contactID string) (int, error)

	// Touch notes changed contacts; TouchRecipients those with an address among keys,
	// in lower case, unless the organization has no active segment. Touched are the oldest notes, and Untouch removes
	// notes by their ids.
	Touch(ctx context.Context, orgID string, contactIDs []string) error
	TouchRecipients(ctx context.Context, orgID string, keys []string) error
	Touched(ctx context.Context, orgID string, limit int) ([]Touch, error)
	Untouch(ctx context.Context, orgID string, ids []string) error

	// ReplaceSuppressed makes the mirror of the account's own list hold exactly these
	// addresses, in lower case.
	ReplaceSuppressed(ctx context.Context, orgID string, keys []string) error
}

// Schema is what predicates may name, with the columns of attributes.
type Schema struct {
	predicate.Schema
	// Slots are columns by attribute, as far as attributes have one.
	Slots map[string]string
}

// Filter narrows a page of segments. The zero value of a member matches all.
type Filter struct {
	Status Status
	// Query is matched in name and key without regard to case.
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
	// Contacts narrows the question to contacts with these ids; nil means all.
	Contacts []string
}

// Touch is a note that a contact changed.
type Touch struct{ ID, ContactID string }
