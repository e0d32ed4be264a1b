package audience

import (
	"context"
	"slices"

	"github.com/mailhelm/mailhelm/core"
)

// MutationClass says what a change of an attribute does to what reads it.
type MutationClass string

// The mutation classes, from harmless to not.
const (
	// Free changes nothing for anybody: the description, an enum that widens, a
	// string that becomes an enum or the reverse.
	Free MutationClass = "free"
	// SafeButStale leaves predicates valid that name a value nobody can get any more.
	SafeButStale MutationClass = "safe_but_stale"
	// Disruptive takes values away from predicates: another name, another way of
	// storing, the end of the attribute.
	Disruptive MutationClass = "disruptive"
)

// AttributeChange is an edit of the registry.
type AttributeChange struct {
	Before Attribute
	// After is nil when the attribute is deleted.
	After *Attribute
	Class MutationClass
	// Preview is set when the change is only asked about: nothing may be stored.
	Preview bool
	// Dropout is how many contacts have a value that predicates lose, see [Impact].
	Dropout int
}

// Impact is what a change does beyond the registry.
type Impact struct {
	AffectedSegments []AffectedSegment `json:"affected_segments" jsonschema_description:"Segments whose predicates read the attribute."`
	ProjectedDropout int               `json:"projected_dropout" jsonschema:"minimum=0" jsonschema_description:"Active contacts whose value predicates do not find any more as they are written; 0 unless the change is disruptive."`
}

// AffectedSegment is a segment that reads a changed attribute.
type AffectedSegment struct {
	ID          string `json:"id" jsonschema:"format=uuid"`
	Name        string `json:"name" voice:"untrusted"`
	TypecheckOK bool   `json:"typecheck_ok" jsonschema_description:"Whether the predicate still fits the registry after the change."`
	Warning     string `json:"warning" voice:"untrusted" jsonschema_description:"What the change means for the segment."`
}

// changeOf is the change from before to after, nil for a deletion.
func changeOf(before Attribute, after *Attribute) AttributeChange {
	change := AttributeChange{Before: before, After: after, Class: Free}
	switch {
	case after == nil || after.Name != before.Name || after.castClass() != before.castClass():
		change.Class = Disruptive
	case before.Type == EnumAttribute && after.Type == EnumAttribute && len(lostValues(before, *after)) > 0:
		change.Class = SafeButStale
	}
	return change
}

// dropout counts the contacts whose value predicates lose: all that have one of the
// type when the name goes, and those whose value cannot be made into the new type when
// it stays.
func (a *Audience) dropout(ctx context.Context, orgID string, change AttributeChange) (int, error) {
	if change.Class != Disruptive {
		return 0, nil
	}
	lost := 0
	err := a.Store.AttributeValues(ctx, orgID, change.Before, func(value any, contacts int) {
		if _, fits := change.Before.Settle(value); !fits {
			return // predicates do not find it as it is
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

// impact is the whole of what a change does; counted is the drop-out when it is
// known.
func (a *Audience) impact(ctx context.Context, orgID string, change AttributeChange, counted *int) (*Impact, error) {
	if counted != nil {
		change.Dropout = *counted
	} else {
		var err error
		if change.Dropout, err = a.dropout(ctx, orgID, change); err != nil {
			return nil, err
		}
	}
	impact := &Impact{AffectedSegments: []AffectedSegment{}, ProjectedDropout: change.Dropout}
	if a.Affected == nil {
		return impact, nil
	}
	affected, err := a.Affected(ctx, orgID, change)
	impact.AffectedSegments = append(impact.AffectedSegments, affected...)
	return impact, err
}

// counted is a drop-out that was counted before the transaction, since looking at
// every contact would hold up other writes, and what it was counted for.
type counted struct {
	before Attribute
	lost   int
}

// count prepares a change of the attribute.
func (a *Audience) count(ctx context.Context, orgID, id string, after *Attribute) (*counted, error) {
	before, err := a.editable(ctx, orgID, id)
	if err != nil {
		return nil, err
	}
	lost, err := a.dropout(ctx, orgID, changeOf(before, after))
	return &counted{before, lost}, err
}

// dropout is the number that was counted, nil when the attribute is another now.
func (c *counted) dropout(now Attribute) *int {
	if c == nil || c.before.Name != now.Name || c.before.Type != now.Type || !slices.Equal(c.before.EnumValues, now.EnumValues) {
		return nil
	}
	return &c.lost
}

// editable is an attribute that may be changed here.
func (a *Audience) editable(ctx context.Context, orgID, id string) (Attribute, error) {
	attribute, err := a.Store.Attribute(ctx, orgID, id)
	if err == nil && attribute.Origin == Git {
		return attribute, core.Conflict("The attribute comes from a repository and is read-only here.", "Change it in the repository.")
	}
	return attribute, err
}
