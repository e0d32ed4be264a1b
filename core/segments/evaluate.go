package segments

import (
	"context"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
)

const (
	// judgedAtOnce is how many contacts are judged in one transaction.
	judgedAtOnce = 1000
	// differingAtOnce bounds what a sweep remembers of a segment.
	differingAtOnce = 100_000
)

// definition is a segment that can be evaluated.
type definition struct {
	Segment
	checked *predicate.Checked
	slots   map[string]string
}

// definitions are the active segments of an organization, each behind those that it
// tests. A segment that no longer compiles becomes invalid here, and an invalid one
// that does again becomes active.
func (s *Segments) definitions(ctx context.Context, orgID string) ([]definition, error) {
	schema, err := s.Store.PredicateSchema(ctx, orgID)
	if err != nil {
		return nil, err
	}
	all, err := s.Store.AllSegments(ctx, orgID)
	if err != nil {
		return nil, err
	}
	var active []definition
	for _, segment := range all {
		if segment.Status != Active && segment.Status != Invalid {
			continue
		}
		checked, fault := predicate.Compile(segment.Source, schema.Schema)
		if (fault == nil) != (segment.Status == Active) {
			if err := s.turn(ctx, orgID, segment, fault); err != nil {
				return nil, err
			}
			segment.Stale = true
		}
		if fault == nil {
			active = append(active, definition{segment, checked, schema.Slots})
		}
	}
	return inOrder(active), nil
}

// turn makes a segment invalid by a fault, or active without one, unless it was
// changed in the meantime.
func (s *Segments) turn(ctx context.Context, orgID string, seen Segment, fault error) error {
	return s.Transactor.InTx(ctx, func(ctx context.Context) error {
		segment, err := s.Store.LockSegment(ctx, orgID, seen.ID)
		if err != nil || segment.Source != seen.Source || segment.Status != seen.Status {
			return err
		}
		if fault == nil {
			segment.Status, segment.Stale = Active, true
			return s.Store.UpdateSegment(ctx, orgID, segment)
		}
		at := s.Clock()
		segment.Status, segment.EvalWarning, segment.EvalWarningAt = Invalid, warning(fault), &at
		return s.Store.UpdateSegment(ctx, orgID, segment)
	})
}

// inOrder puts each segment behind those that it tests. There are no circles; if there
// were, their members would come in the order they have.
func inOrder(all []definition) []definition {
	sorted, placed := make([]definition, 0, len(all)), map[string]bool{}
	var place func(d definition)
	place = func(d definition) {
		if placed[d.ID] {
			return
		}
		placed[d.ID] = true
		for _, id := range d.checked.References().Segments {
			if at := slices.IndexFunc(all, func(d definition) bool { return d.ID == id }); at >= 0 {
				place(all[at])
			}
		}
		sorted = append(sorted, d)
	}
	for _, d := range all {
		place(d)
	}
	return sorted
}

// judge brings the membership of some contacts in a segment up to date. What others
// have made of the segment in the meantime is theirs: nothing happens then.
func (s *Segments) judge(ctx context.Context, orgID string, d definition, contacts []string, now time.Time) (changed int, err error) {
	for chunk := range slices.Chunk(contacts, judgedAtOnce) {
		err := s.Transactor.InTx(ctx, func(ctx context.Context) error {
			segment, err := s.Store.LockSegment(ctx, orgID, d.ID)
			if err != nil || segment.Status != Active || segment.Source != d.Source {
				return err
			}
			entered, left, err := s.Store.JudgeMembers(ctx, d.question(orgID, now, chunk), d.ID)
			changed += entered + left
			return err
		})
		if err != nil {
			return changed, err
		}
	}
	return changed, nil
}

func (d definition) question(orgID string, now time.Time, contacts []string) Question {
	return Question{OrgID: orgID, Predicate: d.checked, Slots: d.slots, Now: now, Contacts: contacts}
}

// sweep judges all contacts: it looks, without holding anything, for those whose
// membership is not what it should be, and judges these alone.
func (s *Segments) sweep(ctx context.Context, orgID string, d definition) error {
	for {
		now := s.Clock()
		contacts, err := s.Store.Differing(ctx, d.question(orgID, now, nil), d.ID, differingAtOnce)
		if err != nil {
			return err
		}
		changed, err := s.judge(ctx, orgID, d, contacts, now)
		if err != nil {
			return err
		}
		if len(contacts) < differingAtOnce || changed == 0 {
			return s.evaluated(ctx, orgID, d, now)
		}
	}
}

// evaluated notes the end of a sweep, unless the segment was changed during it.
func (s *Segments) evaluated(ctx context.Context, orgID string, d definition, at time.Time) error {
	return s.Transactor.InTx(ctx, func(ctx context.Context) error {
		segment, err := s.Store.LockSegment(ctx, orgID, d.ID)
		if err != nil || segment.Status != Active || segment.Source != d.Source {
			return err
		}
		return s.Store.SegmentEvaluated(ctx, orgID, d.ID, at)
	})
}

// warning is the first fault of a predicate in a sentence that is not too long to keep.
func warning(fault error) string {
	const longest = 500
	text := fault.Error()
	if faults := faultsOf(fault); len(faults) > 0 {
		text = faults[0].Error()
	}
	if len(text) > longest {
		text = string([]rune(text)[:min(longest/4, len([]rune(text)))])
	}
	return "It no longer compiles: " + text
}
