package segments

import (
	"context"
	"maps"
	"slices"

	"github.com/mailhelm/mailhelm/core/predicate"
)

// AttributeEdit is a change of a contact attribute's definition, as far as it concerns
// segments.
type AttributeEdit struct {
	// Name is the attribute's name before the change.
	Name string
	// NewName and Type are the attribute's name and type after the change. NewName is "" if
	// the attribute is deleted.
	NewName string
	Type    predicate.AttributeType
	// Disruptive is true if predicates may no longer find stored values after the change.
	Disruptive bool
	// Loses is true if contacts have values that cannot be converted to the new type.
	Loses bool
	// Preview is true if the change is only previewed. Nothing is then stored.
	Preview bool
}

// Affected is a segment that a change of an attribute or property affects.
type Affected struct {
	ID, Name string
	// TypecheckOK is true if the segment's predicate still compiles. Otherwise the segment
	// becomes invalid and keeps its members.
	TypecheckOK bool
	Warning     string
}

// PropertyEdit is a change of the definition of a promoted property. A promoted property is
// a property of activities that has a stored definition, so that predicates may test it.
type PropertyEdit struct {
	Before predicate.ActivityProperty
	// After and Type are the property and its type after the change. After is nil if the
	// property is no longer promoted.
	After *predicate.ActivityProperty
	Type  predicate.Type
	// Loses is true if contacts have values that are not of the new type.
	Loses bool
	// Preview is true if the change is only previewed. Nothing is then stored.
	Preview bool
}

// ApplyAttributeEdit returns the segments that a change of an attribute affects. Unless the
// change is a preview, it stores a warning in each of them. A segment whose predicate no
// longer compiles becomes invalid. The warning ends when the segment is saved, or when it
// compiles again and no values were lost. Call it in the transaction of the change, before
// the attribute registry changes.
func (s *Segments) ApplyAttributeEdit(ctx context.Context, orgID string, edit AttributeEdit) ([]Affected, error) {
	return s.applyEdit(ctx, orgID, edit, edit.Preview)
}

// ApplyPropertyEdit returns the segments that a change of a promoted property (see
// [PropertyEdit]) affects. Unless the change is a preview, it stores a warning in each of
// them, as [Segments.ApplyAttributeEdit] does.
func (s *Segments) ApplyPropertyEdit(ctx context.Context, orgID string, edit PropertyEdit) ([]Affected, error) {
	return s.applyEdit(ctx, orgID, edit, edit.Preview)
}

// edit is a change of attributes, promoted properties, lists or topics, to which predicates
// refer.
type edit interface {
	// isNamed reports whether a predicate with these references refers to the attribute,
	// property, list or topic that changes.
	isNamed(predicate.References) bool
	// applyTo returns the schema of predicates after the edit. It does not modify its
	// argument.
	applyTo(predicate.Schema) predicate.Schema
	// meaning returns the effect of the edit on a predicate that still compiles: a warning,
	// or "" for none. anew is true if all contacts must be evaluated again.
	meaning(after *predicate.Checked) (warning string, anew bool)
	// brokenWarning returns the warning for a segment whose predicate no longer compiles.
	// The warning contains the first fault in the parameter fault, the error of the
	// compilation.
	brokenWarning(fault error) string
	// loses reports whether stored values are lost by the edit. names reports whether a
	// predicate with these references refers to the attribute or property by its new name.
	loses() bool
	names(predicate.References) bool
}

func (s *Segments) applyEdit(ctx context.Context, orgID string, e edit, preview bool) ([]Affected, error) {
	before, err := s.Store.PredicateSchema(ctx, orgID)
	if err != nil {
		return nil, err
	}
	all, err := s.Store.AllSegments(ctx, orgID)
	if err != nil {
		return nil, err
	}
	after, affected := e.applyTo(before.Schema), []Affected{}
	for _, segment := range all {
		checked, err := predicate.Compile(segment.Source, before.Schema)
		if err != nil && !preview {
			if err := s.storeRepair(ctx, orgID, segment, e, after); err != nil {
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

// storeRepair stores a warning about a segment that did not compile and compiles again
// after the edit of an attribute or activity property. It does so only if the edit loses
// stored values that the segment tests. An invalid segment becomes active at its next
// evaluation.
func (s *Segments) storeRepair(ctx context.Context, orgID string, segment Segment, e edit, after predicate.Schema) error {
	checked, err := predicate.Compile(segment.Source, after)
	if err != nil || segment.Status == Archived || !e.loses() || !e.names(checked.References()) {
		return nil //nolint:nilerr // what does not compile keeps the warning that says so
	}
	text, _ := e.meaning(checked)
	return s.mark(ctx, orgID, segment.ID, text, true)
}

// meaningOf returns the effect of an edit on a segment whose predicate has the text source:
// the warning, whether all contacts must be evaluated again, and whether the predicate
// still compiles.
func meaningOf(e edit, source string, after predicate.Schema) (text string, anew, compiles bool) {
	checked, err := predicate.Compile(source, after)
	if err != nil {
		return e.brokenWarning(err), true, false
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

func (e AttributeEdit) applyTo(schema predicate.Schema) predicate.Schema {
	schema.Attributes = maps.Clone(schema.Attributes)
	delete(schema.Attributes, e.Name)
	if e.NewName != "" {
		schema.Attributes[e.NewName] = e.Type
	}
	return schema
}

// brokenWarning returns the warning that the predicate no longer compiles. The warning is
// removed when the predicate compiles again. The attribute's values stay stored, so
// renaming the attribute back makes predicates find them again.
func (e AttributeEdit) brokenWarning(fault error) string { return warning(fault) }

func (e AttributeEdit) meaning(after *predicate.Checked) (string, bool) {
	if e.Disruptive {
		return "Values of attr." + e.Name + " that do not fit its new type are unknown here.", true
	}
	for _, w := range after.Lint() {
		if w.Kind == predicate.WarnEnumValue {
			return "It tests a value that contacts can no longer have: " + w.Message + ".", true
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

func (e PropertyEdit) applyTo(schema predicate.Schema) predicate.Schema {
	schema.Properties = maps.Clone(schema.Properties)
	delete(schema.Properties, e.Before)
	if e.After != nil {
		schema.Properties[*e.After] = e.Type
	}
	return schema
}

func (e PropertyEdit) brokenWarning(fault error) string { return warning(fault) }

func (e PropertyEdit) meaning(*predicate.Checked) (string, bool) {
	return "Values of " + e.Before.Property + " of activity." + e.Before.Activity + " that are not of its new type are unknown here.", true
}

// mark makes a segment stale, so that all contacts are evaluated for it again. It stores
// text as its warning; if text is "", the earlier warning stays. If compiles is false, an
// active segment becomes invalid.
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

// TypeOf converts the name of a type in the attribute registry to the type that predicates
// use. enumValues has the allowed values of an enum.
func TypeOf(name string, enumValues []string) predicate.AttributeType {
	t := predicate.AttributeType{EnumValues: enumValues}
	for _, known := range []predicate.Type{predicate.String, predicate.Number, predicate.Bool, predicate.Datetime, predicate.Enum} {
		if known.String() == name {
			t.Type = known
		}
	}
	return t
}
