package segments

import (
	"context"
	"maps"
	"slices"

	"github.com/mailhelm/mailhelm/core/predicate"
)

// AttributeEdit is a change of an attribute.
type AttributeEdit struct {
	// Name is the name before the change.
	Name string
	// NewName and Type are the name and type after the change; NewName is "" for a
	// deletion.
	NewName string
	Type    predicate.AttributeType
	// Disruptive is true if stored values may no longer count.
	Disruptive bool
	// Loses is true if contacts have values that the new type cannot hold.
	Loses bool
	// Preview is true if the caller only asks for the effect: nothing is written.
	Preview bool
}

// Affected is a segment that an edit has an effect on.
type Affected struct {
	ID, Name string
	// TypecheckOK reports whether the segment still compiles; otherwise it becomes
	// invalid and keeps its members.
	TypecheckOK bool
	Warning     string
}

// PropertyEdit is a change of a promoted property of activities.
type PropertyEdit struct {
	Before predicate.ActivityProperty
	// After and Type are the property after the change; After is nil if it is no longer
	// promoted.
	After *predicate.ActivityProperty
	Type  predicate.Type
	// Loses is true if contacts have values that are not of the new type.
	Loses bool
	// Preview is true if the caller only asks for the effect: nothing is written.
	Preview bool
}

// ApplyAttributeEdit returns the segments that an edit affects. Unless it is a preview, it
// stores a warning in each, and a segment that no longer compiles becomes invalid. The
// warning stays until the segment is saved, or compiles again without loss. It takes
// part in the transaction of the edit and must be called before the registry changes.
func (s *Segments) ApplyAttributeEdit(ctx context.Context, orgID string, edit AttributeEdit) ([]Affected, error) {
	return s.applyEdit(ctx, orgID, edit, edit.Preview)
}

// ApplyPropertyEdit does the same as ApplyAttributeEdit for a promoted property of activities
// whose name or type changes.
func (s *Segments) ApplyPropertyEdit(ctx context.Context, orgID string, edit PropertyEdit) ([]Affected, error) {
	return s.applyEdit(ctx, orgID, edit, edit.Preview)
}

// edit is a change of something that predicates name.
type edit interface {
	// isNamed reports whether a predicate refers to what changes.
	isNamed(predicate.References) bool
	// applyTo returns the schema after the edit.
	applyTo(predicate.Schema) predicate.Schema
	// meaning returns the effect of the edit on a predicate that still compiles: a warning,
	// "" for none, and whether all contacts must be evaluated again.
	meaning(after *predicate.Checked) (warning string, anew bool)
	// brokenWarning returns the warning for a predicate that no longer compiles.
	brokenWarning(fault error) string
	// loses reports whether values under the new name were lost. names reports whether a
	// predicate reads the new name.
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

// storeRepair stores the warning about lost values in an invalid segment that compiles again
// because of the edit. The segment becomes active at its next evaluation.
func (s *Segments) storeRepair(ctx context.Context, orgID string, segment Segment, e edit, after predicate.Schema) error {
	checked, err := predicate.Compile(segment.Source, after)
	if err != nil || segment.Status == Archived || !e.loses() || !e.names(checked.References()) {
		return nil //nolint:nilerr // what does not compile keeps the warning that says so
	}
	text, _ := e.meaning(checked)
	return s.mark(ctx, orgID, segment.ID, text, true)
}

// meaningOf returns the warning about an edit for a segment, whether to evaluate all
// contacts again, and whether it compiles.
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

// brokenWarning returns the warning. Values stay stored, so they count again if the
// attribute gets its old name back.
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

// mark stores a warning in a segment, unless it is "". A segment that still compiles is
// evaluated again.
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

// TypeOf returns the type of an attribute from its name in the registry.
func TypeOf(name string, enumValues []string) predicate.AttributeType {
	t := predicate.AttributeType{EnumValues: enumValues}
	for _, known := range []predicate.Type{predicate.String, predicate.Number, predicate.Bool, predicate.Datetime, predicate.Enum} {
		if known.String() == name {
			t.Type = known
		}
	}
	return t
}
