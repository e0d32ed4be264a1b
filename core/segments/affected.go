package segments

import (
	"context"
	"maps"
	"slices"

	"github.com/mailhelm/mailhelm/core/predicate"
)

// AttributeEdit is what becomes of an attribute.
type AttributeEdit struct {
	// Name is what it is called before.
	Name string
	// NewName and Type are what it is after; NewName is "" when it is deleted.
	NewName string
	Type    predicate.AttributeType
	// Disruptive says that values it holds so far may no longer count.
	Disruptive bool
	// Preview is set when the edit is only asked about: nothing is written.
	Preview bool
}

// Affected is a segment that an edit of an attribute means something to.
type Affected struct {
	ID, Name string
	// TypecheckOK is whether it still compiles; else it is frozen.
	TypecheckOK bool
	Warning     string
}

// AttributeEdited is what an edit means to segments. Unless it is a preview, each
// segment carries its warning until it is saved again, and one that no longer compiles
// is invalid from now on. It takes part in the transaction of the edit and is called
// before the registry changes.
func (s *Segments) AttributeEdited(ctx context.Context, orgID string, edit AttributeEdit) ([]Affected, error) {
	before, err := s.Store.PredicateSchema(ctx, orgID)
	if err != nil {
		return nil, err
	}
	all, err := s.Store.AllSegments(ctx, orgID)
	if err != nil {
		return nil, err
	}
	after, affected := edit.applied(before.Schema), []Affected{}
	for _, segment := range all {
		checked, err := predicate.Compile(segment.Source, before.Schema)
		if err != nil || segment.Status == Archived || !slices.Contains(checked.References().Attributes, edit.Name) {
			continue
		}
		text, compiles := edit.warning(segment.Source, after)
		if text == "" {
			continue
		}
		affected = append(affected, Affected{segment.ID, segment.Name, compiles, text})
		if edit.Preview {
			continue
		}
		if err := s.warn(ctx, orgID, segment.ID, text, compiles); err != nil {
			return nil, err
		}
	}
	return affected, nil
}

// applied is the schema after the edit.
func (e AttributeEdit) applied(schema predicate.Schema) predicate.Schema {
	schema.Attributes = maps.Clone(schema.Attributes)
	delete(schema.Attributes, e.Name)
	if e.NewName != "" {
		schema.Attributes[e.NewName] = e.Type
	}
	return schema
}

// warning says what the edit means to a segment, "" for nothing, and whether it still
// compiles.
func (e AttributeEdit) warning(source string, after predicate.Schema) (string, bool) {
	checked, err := predicate.Compile(source, after)
	if err != nil {
		return warning(err), false
	}
	if e.Disruptive {
		return "Values of attr." + e.Name + " that do not fit its new type are unknown here.", true
	}
	for _, w := range checked.Lint() {
		if w.Kind == predicate.WarnEnumValue {
			return "It tests a value that nobody can get any more: " + w.Message + ".", true
		}
	}
	return "", true
}

// warn lets the warning stand. A segment that still compiles is judged anew.
func (s *Segments) warn(ctx context.Context, orgID, id, text string, compiles bool) error {
	segment, err := s.Store.LockSegment(ctx, orgID, id)
	if err != nil {
		return err
	}
	at := s.Clock()
	segment.EvalWarning, segment.EvalWarningAt, segment.Stale = text, &at, true
	if !compiles && segment.Status == Active {
		segment.Status = Invalid
	}
	return s.Store.UpdateSegment(ctx, orgID, segment)
}

// TypeOf is the type of an attribute by the registry's name for it.
func TypeOf(name string, enumValues []string) predicate.AttributeType {
	t := predicate.AttributeType{EnumValues: enumValues}
	for _, known := range []predicate.Type{predicate.String, predicate.Number, predicate.Bool, predicate.Datetime, predicate.Enum} {
		if known.String() == name {
			t.Type = known
		}
	}
	return t
}
