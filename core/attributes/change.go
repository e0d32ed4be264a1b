package attributes

import (
	"context"
	"slices"

	"github.com/mailhelm/mailhelm/core"
)

// MutationClass tells how a change of an attribute affects the predicates that read the
// attribute.
type MutationClass string

// The classes of changes by their effect on predicates, from harmless to disruptive.
const (
	// Free is the class of changes that affect no predicate: another description, more enum
	// values, a string that becomes an enum, or an enum that becomes a string.
	Free MutationClass = "free"
	// SafeButStale is the class of changes that remove enum values. Predicates that test a
	// removed value stay valid, but contacts can no longer get that value.
	SafeButStale MutationClass = "safe_but_stale"
	// Disruptive is the class of changes after which predicates no longer find values:
	// another name, another stored type, or the deletion of the attribute.
	Disruptive MutationClass = "disruptive"
)

// Change is a change of one attribute's definition.
type Change struct {
	Before Attribute
	// After is the attribute after the change, or nil if the attribute is deleted.
	After *Attribute
	Class MutationClass
	// Preview is true if the change is only previewed. The function Config.AffectedSegments
	// must then store nothing.
	Preview bool
	// Dropout is the number of active contacts that predicates find by this attribute before
	// the change but not after it; see [Impact].
	Dropout int
}

// Impact is the effect of a change of an attribute on segments and contacts.
type Impact struct {
	AffectedSegments []AffectedSegment `json:"affected_segments" jsonschema_description:"Segments whose predicates read the attribute."`
	ProjectedDropout int               `json:"projected_dropout" jsonschema:"minimum=0" jsonschema_description:"Active contacts whose value existing predicates no longer match; 0 unless the change is disruptive."`
}

// AffectedSegment is a segment whose predicate reads the changed attribute.
type AffectedSegment struct {
	ID          string `json:"id" jsonschema:"format=uuid"`
	Name        string `json:"name" voice:"untrusted"`
	TypecheckOK bool   `json:"typecheck_ok" jsonschema_description:"Whether the predicate still fits the registry after the change."`
	Warning     string `json:"warning" voice:"untrusted" jsonschema_description:"Effect of the change on the segment."`
}

// classify returns the change that replaces the attribute before by the attribute after,
// with the class of the change. after is nil if the attribute is deleted.
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

// lostValues returns the enum values that the definition before has and the definition
// after does not have.
func lostValues(before, after Attribute) []string {
	var lost []string
	for _, value := range before.EnumValues {
		if !slices.Contains(after.EnumValues, value) {
			lost = append(lost, value)
		}
	}
	return lost
}

// countDropout counts the active contacts that predicates no longer find by the attribute
// after the change. If the attribute is renamed or deleted, predicates find none of its
// values. If the type changes, predicates do not find values that cannot be converted.
func (a *Attributes) countDropout(ctx context.Context, orgID string, change Change) (int, error) {
	if change.Class != Disruptive {
		return 0, nil
	}
	lost := 0
	err := a.Store.AttributeValues(ctx, orgID, change.Before, func(value any, contacts int) {
		if _, fits := change.Before.Settle(value); !fits {
			return // the value did not fit the attribute before the change, so predicates did not find it
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

// assess returns the effect of a change on segments and contacts. known is the number of
// contacts that lose a value, if it was counted before the transaction; nil makes assess
// count it.
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

// countedDropout is the number of contacts that lose a value through a change of an
// attribute. Counting reads every contact. It happens before the transaction, where it does
// not block other writes. The attribute at the time of the count is stored with it.
type countedDropout struct {
	before Attribute
	lost   int
}

// countAhead counts the active contacts that predicates no longer find by the attribute
// after the change. The parameter after is the new definition, or nil to delete the
// attribute. It fails with core.CodeNotFound if there is no such attribute, and with
// core.CodeConflict if a repository defines it.
func (a *Attributes) countAhead(ctx context.Context, orgID, id string, after *Attribute) (*countedDropout, error) {
	before, err := a.readEditable(ctx, orgID, id)
	if err != nil {
		return nil, err
	}
	lost, err := a.countDropout(ctx, orgID, classify(before, after))
	return &countedDropout{before, lost}, err
}

// countFor returns the number of contacts that was counted. It returns nil if c is nil. It
// also returns nil if the attribute's name, type or enum values have changed since the
// count.
func (c *countedDropout) countFor(now Attribute) *int {
	if c == nil || c.before.Name != now.Name || c.before.Type != now.Type || !slices.Equal(c.before.EnumValues, now.EnumValues) {
		return nil
	}
	return &c.lost
}

// readEditable returns an attribute that may be changed through the API. It fails with
// core.CodeConflict if a Git repository defines the attribute.
func (a *Attributes) readEditable(ctx context.Context, orgID, id string) (Attribute, error) {
	attribute, err := a.Store.Attribute(ctx, orgID, id)
	if err == nil && attribute.Origin == core.GitOrigin {
		return attribute, core.Conflict("The attribute comes from a repository and is read-only here.", "Change it in the repository.")
	}
	return attribute, err
}
