package bundling

import (
	"maps"

	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/sending"
)

// namesAfter changes the names that predicates may use into those after a change, except the names of
// segments. The ids of new lists are their keys, which is enough to check a predicate.
func namesAfter(c definitions.Change) func(*predicate.Schema) {
	return func(s *predicate.Schema) {
		s.Attributes, s.Properties, s.Topics, s.Lists = maps.Clone(s.Attributes), maps.Clone(s.Properties), maps.Clone(s.Topics), maps.Clone(s.Lists)
		s.Archived = maps.Clone(s.Archived)
		remove(s, c.Removed)
		for _, a := range c.Wanted.Attributes {
			s.Attributes[a.Name] = segments.TypeOf(a.Type, a.EnumValues)
		}
		for _, p := range c.Wanted.ActivityProperties {
			s.Properties[predicate.ActivityProperty{Activity: p.Activity, Property: p.Property}] = segments.TypeOf(p.Type, nil).Type
		}
		for _, l := range c.Wanted.Lists {
			if s.Lists[l.Key] == "" {
				s.Lists[l.Key] = l.Key
			}
			delete(s.Archived, predicate.Archived{Kind: predicate.ListSet, Key: l.Key})
		}
		for _, t := range c.Wanted.Topics {
			s.Topics[t.Name] = t.Default == string(sending.OptIn)
			delete(s.Archived, predicate.Archived{Kind: predicate.TopicSet, Key: t.Name})
		}
	}
}

// remove removes the names that are gone after a change.
func remove(s *predicate.Schema, removed map[definitions.Ref]bool) {
	maps.DeleteFunc(s.Attributes, func(name string, _ predicate.AttributeType) bool {
		return removed[definitions.Ref{Kind: definitions.KindAttribute, Key: name}]
	})
	maps.DeleteFunc(s.Properties, func(p predicate.ActivityProperty, _ predicate.Type) bool {
		key := definitions.ActivityProperty{Activity: p.Activity, Property: p.Property}.Key()
		return removed[definitions.Ref{Kind: definitions.KindActivityProperty, Key: key}]
	})
	maps.DeleteFunc(s.Lists, func(key, _ string) bool {
		return removed[definitions.Ref{Kind: definitions.KindList, Key: key}]
	})
	maps.DeleteFunc(s.Topics, func(name string, _ bool) bool {
		return removed[definitions.Ref{Kind: definitions.KindTopic, Key: name}]
	})
}

// segmentsAfter changes the names of segments into those after a change.
func segmentsAfter(s *predicate.Schema, c definitions.Change) {
	s.Segments = maps.Clone(s.Segments)
	maps.DeleteFunc(s.Segments, func(key, _ string) bool {
		return c.Removed[definitions.Ref{Kind: definitions.KindSegment, Key: key}]
	})
	for _, g := range c.Wanted.Segments {
		if s.Segments[g.Key] == "" {
			s.Segments[g.Key] = g.Key
		}
		delete(s.Archived, predicate.Archived{Kind: predicate.SegmentSet, Key: g.Key})
	}
}
