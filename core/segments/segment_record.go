package segments

import (
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
)

// Status is the state of a segment.
type Status string

// The states of a segment. Only an active segment is evaluated. A segment in another state
// keeps its members.
const (
	Active Status = "active"
	// Paused means that a member of the organization paused the segment.
	Paused Status = "paused"
	// Invalid means that the predicate does not compile. The segment becomes active again
	// when it compiles.
	Invalid Status = "invalid"
	// Archived means that the segment was removed from the repository that defined it.
	Archived Status = "archived"
)

// CanBecome reports whether a person may change the state to another one. A segment whose
// predicate does not compile becomes active by a new definition only, and an archived one
// can only be restored. A segment may keep its state.
func (s Status) CanBecome(to Status) bool {
	switch to {
	case s:
		return true
	case Active:
		return s == Paused || s == Archived
	case Paused:
		return s == Active || s == Invalid
	case Archived:
		return true
	}
	return false
}

// Origin tells where a segment is defined: through the API or in a Git repository.
type Origin string

// The origins.
const (
	Managed Origin = "managed"
	Git     Origin = "git"
)

// Segment is the definition of a segment, with the result of its last evaluation.
type Segment struct {
	ID             string              `json:"id" jsonschema:"format=uuid"`
	Key            string              `json:"key" voice:"untrusted"`
	Name           string              `json:"name" voice:"untrusted"`
	Description    string              `json:"description" voice:"untrusted"`
	Source         string              `json:"source" voice:"untrusted"`
	ProfileVersion int                 `json:"profile_version"`
	EvalClass      predicate.EvalClass `json:"eval_class" jsonschema:"enum=incremental,enum=sweep,enum=both"`
	Status         Status              `json:"status" jsonschema:"enum=active,enum=paused,enum=invalid,enum=archived"`
	EvalWarning    string              `json:"eval_warning,omitempty" voice:"untrusted"`
	EvalWarningAt  *time.Time          `json:"eval_warning_at,omitempty"`
	// MemberCount is the number of members after the last evaluation.
	MemberCount     int        `json:"member_count"`
	LastEvaluatedAt *time.Time `json:"last_evaluated_at,omitempty"`
	Origin          Origin     `json:"origin" jsonschema:"enum=managed,enum=git"`
	SourcePath      string     `json:"source_path,omitempty" voice:"untrusted"`
	CreatedAt       time.Time  `json:"created_at"`
	UpdatedAt       time.Time  `json:"updated_at"`
	// Stale is true if all contacts have to be evaluated again for the segment.
	Stale bool `json:"-"`
}

// Member is a contact that is in a segment.
type Member struct {
	ContactID string    `json:"contact_id" jsonschema:"format=uuid"`
	Email     string    `json:"email" voice:"untrusted"`
	Mailable  bool      `json:"mailable"`
	EnteredAt time.Time `json:"entered_at"`
}

// Example is a contact that matches a previewed predicate.
type Example struct {
	ContactID string `json:"contact_id" jsonschema:"format=uuid"`
	Email     string `json:"email" voice:"untrusted"`
	Mailable  bool   `json:"mailable"`
}
