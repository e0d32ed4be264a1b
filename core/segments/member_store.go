package segments

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
)

// MemberStore finds the contacts that match predicates, and stores which contacts are
// members of segments. Every method sees only the given organization and takes part in the
// transaction of ctx.
type MemberStore interface {
	// SegmentMembers returns one page of the members of a segment, most recently entered
	// first.
	SegmentMembers(ctx context.Context, orgID, segmentID string, after *core.After, limit int) ([]Member, error)
	// IsSegmentMember reports whether a contact is in the segment. contact is the id or the
	// address of the contact.
	IsSegmentMember(ctx context.Context, orgID, segmentID, contact string) (bool, error)
	// SegmentsSince returns the times since which a contact is in its segments, by the
	// segments' ids.
	SegmentsSince(ctx context.Context, orgID, contactID string) (map[string]time.Time, error)

	// CountMatching returns the number of contacts that match the predicate of q. Examples
	// returns the first of these contacts, sorted by id.
	CountMatching(ctx context.Context, q Question) (int, error)
	Examples(ctx context.Context, q Question, limit int) ([]Example, error)
	// TestResults evaluates tests of a predicate for the contact whose id is the only one in
	// q.Contacts, and returns one result for each test. It fails with core.CodeNotFound if
	// the organization has no such active contact. It does not evaluate the predicate of q.
	TestResults(ctx context.Context, q Question, tests []predicate.Node) ([]TestResult, error)
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
	// segment to the membership log. It returns the ids of the contacts that entered and of
	// those that left.
	JudgeMembers(ctx context.Context, q Question, segmentID string) (entered, exited []string, err error)
	// SetEvaluatedAt stores the time at which all contacts were evaluated for the segment.
	// Like JudgeMembers, it stores the number of members as that of the day of the time.
	SetEvaluatedAt(ctx context.Context, orgID, segmentID string, at time.Time) error
	// SegmentSizes returns the numbers of members that are stored for days from the day of
	// since on, and the last one before that day, sorted by day.
	SegmentSizes(ctx context.Context, orgID, segmentID string, since time.Time) ([]Size, error)
}
