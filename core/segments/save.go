package segments

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/predicatelint"
)

// Definition is the part of a segment that its author writes. Key identifies the segment
// and never changes.
type Definition struct {
	Key, Name, Description, Source string
	Origin                         Origin
	// SourcePath is the path of the file that defines the segment, in the Git repository
	// that the organization has connected.
	SourcePath string
}

// Limits of definitions.
const (
	maxKey         = 64
	maxName        = 200
	maxDescription = 500
)

var keyForm = regexp.MustCompile(`^[a-z0-9]+(?:[-_][a-z0-9]+)*$`)

// Save creates a segment, or replaces the definition of the segment with the key d.Key, and
// returns the segment. All contacts are evaluated again soon after, unless the segment is
// paused. Save removes the segment's warning. An invalid or archived segment becomes
// active; a paused segment stays paused. Save fails with core.CodeValidationFailed for an
// invalid definition, or if the predicate tests the segment itself, directly or through
// other segments. It fails with core.CodeConflict if a definition from the API would
// replace one from a Git repository, unless that segment is archived.
func (s *Segments) Save(ctx context.Context, orgID string, d Definition) (Segment, error) {
	return s.store(ctx, orgID, d, false)
}

// Create is Save for a new segment: it fails with core.CodeValidationFailed if the
// organization has a segment with the key, in any state, and with core.CodeConflict if one is
// created at the same time.
func (s *Segments) Create(ctx context.Context, orgID string, d Definition) (Segment, error) {
	return s.store(ctx, orgID, d, true)
}

// store does the work of Save, and of Create if isNew is true.
func (s *Segments) store(ctx context.Context, orgID string, d Definition, isNew bool) (Segment, error) {
	if err := d.check(); err != nil {
		return Segment{}, err
	}
	var saved Segment
	err := s.Transactor.InTx(ctx, func(ctx context.Context) error {
		// The lock makes concurrent saves wait. Otherwise two segments that are saved at the
		// same time could test each other, which is a cycle.
		if err := s.Store.LockSegments(ctx, orgID); err != nil {
			return err
		}
		all, err := s.Store.AllSegments(ctx, orgID)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(all, func(s Segment) bool { return s.Key == d.Key })
		if at >= 0 {
			saved = all[at]
		}
		if at >= 0 && isNew {
			return core.Invalid("key", "is the key of another segment; choose another one, or edit that segment")
		}
		if at >= 0 && saved.Origin == Git && d.Origin != Git && saved.Status != Archived {
			return core.Conflict("A repository defines this segment.", "Change it in the repository.")
		}
		checked, err := s.compile(ctx, orgID, d.Source, d.Key, all)
		if err != nil {
			return err
		}
		saved = d.applyTo(saved, checked.EvalClass())
		saved, err = s.put(ctx, orgID, saved)
		return err
	})
	return saved, err
}

// applyTo returns the segment in the parameter before, with its definition replaced by d. If
// before is the zero Segment, the result is a new segment without id.
func (d Definition) applyTo(before Segment, class predicate.EvalClass) Segment {
	status := Active
	if before.Status == Paused {
		status = Paused
	}
	before.Key, before.Name, before.Description, before.Source = d.Key, d.Name, d.Description, d.Source
	before.Origin, before.SourcePath = d.Origin, d.SourcePath
	before.ProfileVersion, before.EvalClass = predicate.ProfileVersion, class
	before.EvalWarning, before.EvalWarningAt = "", nil
	before.Status, before.Stale = status, true
	return before
}

func (d Definition) check() error {
	var faults []core.FieldError
	fault := func(field, reason string) {
		faults = append(faults, core.FieldError{Field: field, Reason: reason})
	}
	if !keyForm.MatchString(d.Key) || len(d.Key) > maxKey {
		fault("key", "must be lower-case letters and digits, with single - or _ between them, at most 64 in all")
	}
	if strings.TrimSpace(d.Name) == "" || len(d.Name) > maxName {
		fault("name", "must have 1 to 200 bytes and not be blank")
	}
	if len(d.Description) > maxDescription {
		fault("description", "must have at most 500 bytes")
	}
	if d.Origin != Managed && d.Origin != Git {
		fault("origin", "must be managed or git")
	}
	if len(faults) > 0 {
		return core.InvalidFields(faults...)
	}
	return nil
}

// compile returns the compiled predicate of the segment with the key. It fails with
// core.CodeValidationFailed if the predicate does not compile or would close a cycle of
// segments.
func (s *Segments) compile(ctx context.Context, orgID, source, key string, all []Segment) (*predicate.Checked, error) {
	schema, err := s.Store.PredicateSchema(ctx, orgID)
	if err != nil {
		return nil, err
	}
	// A new segment that tests itself must compile here; it is refused below as a cycle.
	if schema.Segments[key] == "" {
		schema.Segments = maps.Clone(schema.Segments)
		schema.Segments[key] = key
	}
	checked, err := predicate.Compile(source, schema.Schema)
	if err != nil {
		return nil, invalidPredicate(err)
	}
	if len(predicatelint.Path(testsOf(all, key), checked.Tree().SegmentKeys(), key)) > 0 {
		return nil, core.Invalid("source", "tests the segment itself, directly or through other segments")
	}
	return checked, nil
}

// testsOf maps the key of each segment, except the one with the given key, to the keys of
// the segments that its predicate tests. It has invalid and archived segments too, because
// they may become active again.
func testsOf(all []Segment, except string) map[string][]string {
	tests := map[string][]string{}
	for _, s := range all {
		if tree, err := predicate.Parse(s.Source); err == nil && s.Key != except {
			tests[s.Key] = tree.SegmentKeys()
		}
	}
	return tests
}

// SetStatus pauses, resumes, archives or restores a segment. After a segment became active,
// all contacts are evaluated again. SetStatus fails with core.CodeConflict if the state of
// the segment does not allow the change; see [Status.CanBecome].
func (s *Segments) SetStatus(ctx context.Context, orgID, id string, status Status) (Segment, error) {
	var changed Segment
	err := s.Transactor.InTx(ctx, func(ctx context.Context) error {
		var err error
		if changed, err = s.Store.LockSegment(ctx, orgID, id); err != nil {
			return err
		}
		if status == Invalid {
			return core.Invalid("status", "cannot be set to invalid; send active, paused or archived")
		}
		if !changed.Status.CanBecome(status) {
			return core.Conflict("The segment is "+string(changed.Status)+" and cannot become "+string(status)+".", "Read the segment to see its state.")
		}
		changed.Status, changed.Stale, changed.UpdatedAt = status, status == Active, s.Clock()
		return s.Store.UpdateSegment(ctx, orgID, changed)
	})
	return changed, err
}
