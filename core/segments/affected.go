package segments

import (
	"context"
	"maps"
	"slices"

	"github.com/mailhelm/mailhelm/core/predicate"
)

// AttributeEdit is a change of an attribute.
type AttributeEdit struct {
	// Name is what it is called before.
	Name string
	// NewName and Type are what it is after; NewName is "" when it is deleted.
	NewName string
	Type    predicate.AttributeType
	// Disruptive says that values it holds so far may no longer count.
	Disruptive bool
	// Loses says that contacts have values that the new type cannot hold.
	Loses bool
	// Preview is set when the edit is only asked about: nothing is written.
	Preview bool
}

// Affected is a segment that an edit means something to.
type Affected struct {
	ID, Name string
	// TypecheckOK is whether it still compiles; else it is frozen.
	TypecheckOK bool
	Warning     string
}

// PropertyEdit is a change of a promoted property of activities.
type PropertyEdit struct {
	Before predicate.ActivityProperty
	// After and Type are what it is after; After is nil when it is no longer promoted.
	After *predicate.ActivityProperty
	Type  predicate.Type
	// Loses says that contacts have values that are not of the new type.
	Loses bool
	// Preview is set when the edit is only asked about: nothing is written.
	Preview bool
}

// AttributeEdited is what an edit means to segments. Unless it is a preview, each
// segment carries its warning until it is saved, or compiles again without loss, and one that no longer compiles
// is invalid from now on. It takes part in the transaction of the edit and is called
// before the registry changes.
func (s *Segments) AttributeEdited(ctx context.Context, orgID string, edit AttributeEdit) ([]Affected, error) {
	return s.edited(ctx, orgID, edit, edit.Preview)
}

// PropertyEdited is AttributeEdited for a promoted property of activities whose name
// or type changes.
func (s *Segments) PropertyEdited(ctx context.Context, orgID string, edit PropertyEdit) ([]Affected, error) {
	return s.edited(ctx, orgID, edit, edit.Preview)
}

// edit is an edit of something that predicates name.
type edit interface {
	// isNamed reports whether a predicate names what is edited.
	isNamed(predicate.References) bool
	// applied is the schema after the edit.
	applied(predicate.Schema) predicate.Schema
	// meaning is what the edit means to a predicate that still compiles: a warning, if
	// there is something to warn of, and whether all contacts have to be judged anew.
	meaning(after *predicate.Checked) (warning string, anew bool)
	// broken is the warning of a predicate that the edit keeps from compiling.
	broken(fault error) string
	// loses reports whether values are lost under the name that the edit gives, and
	// names reports whether a predicate reads that name.
	loses() bool
	names(predicate.References) bool
}

func (s *Segments) edited(ctx context.Context, orgID string, e edit, preview bool) ([]Affected, error) {
	before, err := s.Store.PredicateSchema(ctx, orgID)
	if err != nil {
		return nil, err
	}
	all, err := s.Store.AllSegments(ctx, orgID)
	if err != nil {
		return nil, err
	}
	after, affected := e.applied(before.Schema), []Affected{}
	for _, segment := range all {
		checked, err := predicate.Compile(segment.Source, before.Schema)
		if err != nil && !preview {
			if err := s.repaired(ctx, orgID, segment, e, after); err != nil {
				return nil, err
			}
		}
		if err != nil || segment.Status == Archived || !e.isNamed(checked.References()) {
			continue
		}
		text, anew, compiles := meaningOf(e, segment.Source, after)
		if text != "" {
			affected = append(affected, Affected{segment.ID, segment.Name, compiles, text})
		}
		if preview || !anew {
			continue
		}
		if err := s.mark(ctx, orgID, segment.ID, text, compiles); err != nil {
			return nil, err
		}
	}
	return affected, nil
}

// repaired lets a segment that compiles again by an edit warn of what the edit loses. The
// segment becomes active when it is evaluated next.
func (s *Segments) repaired(ctx context.Context, orgID string, segment Segment, e edit, after predicate.Schema) error {
	checked, err := predicate.Compile(segment.Source, after)
	if err != nil || segment.Status == Archived || !e.loses() || !e.names(checked.References()) {
		return nil //nolint:nilerr // what does not compile keeps the warning that says so
	}
	text, _ := e.meaning(checked)
	return s.mark(ctx, orgID, segment.ID, text, true)
}

// meaningOf is the meaning of an edit to a segment, and whether it still compiles.
func meaningOf(e edit, source string, after predicate.Schema) (text string, anew, compiles bool) {
	checked, err := predicate.Compile(source, after)
	if err != nil {
		return e.broken(err), true, false
	}
	text, anew = e.meaning(checked)
	return text, anew, true
}

func (e AttributeEdit) isNamed(by predicate.References) bool {
	return slices.Contains(by.Attributes, e.Name)
}

func (e AttributeEdit) loses() bool { return e.Loses }

func (e AttributeEdit) names(by predicate.References) bool {
	return slices.Contains(by.Attributes, e.NewName)
}

func (e AttributeEdit) applied(schema predicate.Schema) predicate.Schema {
	schema.Attributes = maps.Clone(schema.Attributes)
	delete(schema.Attributes, e.Name)
	if e.NewName != "" {
		schema.Attributes[e.NewName] = e.Type
	}
	return schema
}

// broken: values stay under the name, so nothing is lost once it is there again.
func (e AttributeEdit) broken(fault error) string { return warning(fault) }

func (e AttributeEdit) meaning(after *predicate.Checked) (string, bool) {
	if e.Disruptive {
		return "Values of attr." + e.Name + " that do not fit its new type are unknown here.", true
	}
	for _, w := range after.Lint() {
		if w.Kind == predicate.WarnEnumValue {
			return "It tests a value that nobody can get any more: " + w.Message + ".", true
		}
	}
	return "", false
}

func (e PropertyEdit) isNamed(by predicate.References) bool {
	return slices.Contains(by.Properties, e.Before)
}

func (e PropertyEdit) loses() bool { return e.Loses && e.After != nil }

func (e PropertyEdit) names(by predicate.References) bool {
	return slices.Contains(by.Properties, *e.After)
}

func (e PropertyEdit) applied(schema predicate.Schema) predicate.Schema {
	schema.Properties = maps.Clone(schema.Properties)
	delete(schema.Properties, e.Before)
	if e.After != nil {
		schema.Properties[*e.After] = e.Type
	}
	return schema
}

func (e PropertyEdit) broken(fault error) string { return warning(fault) }

func (e PropertyEdit) meaning(*predicate.Checked) (string, bool) {
	return "Values of " + e.Before.Property + " of activity." + e.Before.Activity + " that are not of its new type are unknown here.", true
}

// mark lets the warning stand, if there is one. A segment that still compiles is
// judged anew.
func (s *Segments) mark(ctx context.Context, orgID, id, text string, compiles bool) error {
	segment, err := s.Store.LockSegment(ctx, orgID, id)
	if err != nil {
		return err
	}
	if segment.Stale = true; text != "" {
		at := s.Clock()
		segment.EvalWarning, segment.EvalWarningAt = text+keptOf(segment.EvalWarning, text), &at
	}
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
