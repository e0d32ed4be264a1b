package serve

import (
	"context"

	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/topics"
)

// attributeSegments returns a function that returns the segments affected by a change of an
// attribute definition. Unless change.Preview is true, it also updates those segments.
func attributeSegments(s *segments.Segments) func(context.Context, string, attributes.Change) ([]attributes.AffectedSegment, error) {
	return func(ctx context.Context, orgID string, change attributes.Change) ([]attributes.AffectedSegment, error) {
		edit := segments.AttributeEdit{Name: change.Before.Name, Disruptive: change.Class == attributes.Disruptive, Preview: change.Preview}
		if change.After != nil {
			edit.NewName, edit.Type = change.After.Name, segments.TypeOf(string(change.After.Type), change.After.EnumValues)
			edit.Loses = change.Dropout > 0 && !change.After.StoredLike(change.Before)
		}
		found, err := s.ApplyAttributeEdit(ctx, orgID, edit)
		affected := make([]attributes.AffectedSegment, len(found))
		for i, a := range found {
			affected[i] = attributes.AffectedSegment(a)
		}
		return affected, err
	}
}

// propertySegments returns a function that returns the segments affected by a change of an
// activity property that segments can use. Unless change.Preview is true, it also updates
// those segments.
func propertySegments(s *segments.Segments) func(context.Context, string, activities.PropertyChange) ([]activities.AffectedSegment, error) {
	return func(ctx context.Context, orgID string, change activities.PropertyChange) ([]activities.AffectedSegment, error) {
		edit := segments.PropertyEdit{Before: propertyName(change.Before), Preview: change.Preview}
		if change.After != nil {
			after := propertyName(*change.After)
			edit.After, edit.Type = &after, segments.TypeOf(string(change.After.Type), nil).Type
			edit.Loses = change.Dropout > 0 && change.After.Type != change.Before.Type
		}
		found, err := s.ApplyPropertyEdit(ctx, orgID, edit)
		affected := make([]activities.AffectedSegment, len(found))
		for i, a := range found {
			affected[i] = activities.AffectedSegment(a)
		}
		return affected, err
	}
}

// propertyName returns the activity and name of the property, in the type that predicates
// of segments use.
func propertyName(p activities.Property) predicate.ActivityProperty {
	return predicate.ActivityProperty{Activity: p.ActivityName, Property: p.Property}
}

// forwardRedefinedTopics returns a function that updates the segments before topics are
// deleted or get another default subscription. Package core/topics calls it in the
// transaction of that change.
func forwardRedefinedTopics(s *segments.Segments) func(context.Context, string, topics.Redefinition) error {
	return func(ctx context.Context, orgID string, what topics.Redefinition) error {
		return s.ApplyRedefinition(ctx, orgID, segments.Redefinition{GoneTopics: what.Gone, TurnedTopics: what.Turned})
	}
}

// forwardDeletedLists returns a function that updates the segments before lists are
// deleted. The last argument of that function is the ids of these lists.
func forwardDeletedLists(s *segments.Segments) func(context.Context, string, []string) error {
	return func(ctx context.Context, orgID string, listIDs []string) error {
		return s.ApplyRedefinition(ctx, orgID, segments.Redefinition{GoneLists: listIDs})
	}
}
