package segments

import (
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
)

// Status is the state of a segment.
type Status string

// The states of a segment. Only an active one is evaluated; the others keep their
// members.
const (
	Active Status = "active"
	// Paused means that a person paused the segment.
	Paused Status = "paused"
	// Invalid means that the predicate does not compile. The segment becomes active when it
	// compiles again.
	Invalid Status = "invalid"
	// Archived means that the segment was removed from the repository that defined it.
	Archived Status = "archived"
)

// Origin is the owner of a definition.
type Origin string

// The origins.
const (
	Managed Origin = "managed"
	Git     Origin = "git"
)

// Segment is a definition with the result of its last evaluation.
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
	// Stale is true while all contacts have to be evaluated again.
	Stale bool `json:"-"`
}

// Member is a contact in a segment.
type Member struct {
	ContactID string    `json:"contact_id" jsonschema:"format=uuid"`
	Email     string    `json:"email" voice:"untrusted"`
	Mailable  bool      `json:"mailable"`
	EnteredAt time.Time `json:"entered_at"`
}

// Example is a contact that matches a predicate.
type Example struct {
	ContactID string `json:"contact_id" jsonschema:"format=uuid"`
	Email     string `json:"email" voice:"untrusted"`
	Mailable  bool   `json:"mailable"`
}
