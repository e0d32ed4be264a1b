package segments

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
)

// Store stores the definitions of segments, and reads the names that predicates may use.
// Every method sees only the given organization and takes part in the transaction of ctx.
// Methods that find one record fail with core.CodeNotFound if there is none.
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
