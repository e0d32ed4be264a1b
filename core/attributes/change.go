package attributes

import (
	"context"
	"slices"

	"github.com/mailhelm/mailhelm/core"
)

// MutationClass says how a change of an attribute affects the predicates that read it.
type MutationClass string

// The mutation classes, from harmless to disruptive.
const (
	// Free affects no predicate: another description, more enum values, a string that
	// becomes an enum or the reverse.
	Free MutationClass = "free"
	// SafeButStale leaves predicates valid that test a value which contacts can no longer
	// get.
	SafeButStale MutationClass = "safe_but_stale"
	// Disruptive takes values away from predicates: another name, another way of storing
	// values, or the deletion of the attribute.
	Disruptive MutationClass = "disruptive"
)

// Change is an edit of the registry.
type Change struct {
	Before Attribute
	// After is nil when the attribute is deleted.
	After *Attribute
	Class MutationClass
	// Preview is set when the caller only asks for the effect: nothing may be stored.
	Preview bool
	// Dropout counts the contacts with a value that predicates lose; see [Impact].
	Dropout int
}

// Impact is the effect of a change beyond the registry.
type Impact struct {
	AffectedSegments []AffectedSegment `json:"affected_segments" jsonschema_description:"Segments whose predicates read the attribute."`
	ProjectedDropout int               `json:"projected_dropout" jsonschema:"minimum=0" jsonschema_description:"Active contacts whose value existing predicates no longer match; 0 unless the change is disruptive."`
}

// AffectedSegment is a segment that reads a changed attribute.
type AffectedSegment struct {
	ID          string `json:"id" jsonschema:"format=uuid"`
	Name        string `json:"name" voice:"untrusted"`
	TypecheckOK bool   `json:"typecheck_ok" jsonschema_description:"Whether the predicate still fits the registry after the change."`
	Warning     string `json:"warning" voice:"untrusted" jsonschema_description:"Effect of the change on the segment."`
}

// classify returns the change from before to after with its class. after is nil for a
// deletion.
func classify(before Attribute, after *Attribute) Change {
	change := Change{Before: before, After: after, Class: Free}
	switch {
	case after == nil || after.Name != before.Name || after.castClass() != before.castClass():
		change.Class = Disruptive
	case before.Type == Enum && after.Type == Enum && len(lostValues(before, *after)) > 0:
		change.Class = SafeButStale
	}
	return change
}

// lostValues returns the enum values of before that after does not have.
func lostValues(before, after Attribute) []string {
	var lost []string
	for _, value := range before.EnumValues {
		if !slices.Contains(after.EnumValues, value) {
			lost = append(lost, value)
		}
	}
	return lost
}

// countDropout counts the active contacts whose value predicates lose. A change of the
// name loses every value of the attribute's type. A change of the type loses the values
// that cannot be converted.
func (a *Attributes) countDropout(ctx context.Context, orgID string, change Change) (int, error) {
	if change.Class != Disruptive {
		return 0, nil
	}
	lost := 0
	err := a.Store.AttributeValues(ctx, orgID, change.Before, func(value any, contacts int) {
		if _, fits := change.Before.Settle(value); !fits {
			return // predicates do not find it now either
		}
		if change.After != nil && change.After.Name == change.Before.Name {
			if _, fits := change.After.Settle(value); fits {
				return
			}
		}
		lost += contacts
	})
	return lost, err
}

// assess returns the effect of a change. known is the drop-out if it was counted before;
// nil counts it now.
func (a *Attributes) assess(ctx context.Context, orgID string, change Change, known *int) (*Impact, error) {
	if known != nil {
		change.Dropout = *known
	} else {
		var err error
		if change.Dropout, err = a.countDropout(ctx, orgID, change); err != nil {
			return nil, err
		}
	}
	impact := &Impact{AffectedSegments: []AffectedSegment{}, ProjectedDropout: change.Dropout}
	if a.AffectedSegments == nil {
		return impact, nil
	}
	affected, err := a.AffectedSegments(ctx, orgID, change)
	impact.AffectedSegments = append(impact.AffectedSegments, affected...)
	return impact, err
}

// countedDropout is a drop-out that was counted before the transaction, and the
// attribute that it was counted for. Counting reads every contact, which would block
// other writes inside the transaction.
type countedDropout struct {
	before Attribute
	lost   int
}

// countAhead counts the drop-out of a change of the attribute to after, nil for a
// deletion. It fails as readEditable does.
func (a *Attributes) countAhead(ctx context.Context, orgID, id string, after *Attribute) (*countedDropout, error) {
	before, err := a.readEditable(ctx, orgID, id)
	if err != nil {
		return nil, err
	}
	lost, err := a.countDropout(ctx, orgID, classify(before, after))
	return &countedDropout{before, lost}, err
}

// countFor returns the count if it still holds for the attribute, nil if the definition has
// changed since.
func (c *countedDropout) countFor(now Attribute) *int {
	if c == nil || c.before.Name != now.Name || c.before.Type != now.Type || !slices.Equal(c.before.EnumValues, now.EnumValues) {
		return nil
	}
	return &c.lost
}

// readEditable returns an attribute that may be changed here. It fails with
// core.CodeConflict for one that comes from a repository.
func (a *Attributes) readEditable(ctx context.Context, orgID, id string) (Attribute, error) {
	attribute, err := a.Store.Attribute(ctx, orgID, id)
	if err == nil && attribute.Origin == core.GitOrigin {
		return attribute, core.Conflict("The attribute comes from a repository and is read-only here.", "Change it in the repository.")
	}
	return attribute, err
}
