package segments

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
)

const (
	// judgedAtOnce is the number of contacts evaluated in one transaction.
	judgedAtOnce = 1000
	// differingAtOnce bounds the number of contacts that a sweep holds in memory.
	differingAtOnce = 100_000
)

// definition is a segment that can be evaluated.
type definition struct {
	Segment
	checked *predicate.Checked
	slots   map[string]string
}

// definitions returns the active segments of an organization, each after those that it
// tests. It makes a segment that no longer compiles invalid, and an invalid one that
// compiles again active.
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
			if err := s.setStatus(ctx, orgID, segment, fault); err != nil {
				return nil, err
			}
			segment.Stale = true
		}
		if fault == nil {
			active = append(active, definition{segment, checked, schema.Slots})
		}
	}
	return sortByDependency(active), nil
}

// setStatus makes a segment invalid if fault is not nil, else active. It does nothing if the
// segment was changed in the meantime.
func (s *Segments) setStatus(ctx context.Context, orgID string, seen Segment, fault error) error {
	return s.Transactor.InTx(ctx, func(ctx context.Context) error {
		segment, err := s.Store.LockSegment(ctx, orgID, seen.ID)
		if err != nil || segment.Source != seen.Source || segment.Status != seen.Status {
			return err
		}
		if fault == nil {
			// UpdatedAt lets a sweep detect that contacts were not evaluated in between; see
			// definition.isSame.
			segment.Status, segment.Stale, segment.UpdatedAt = Active, true, s.Clock()
			if segment.EvalWarning = afterRepair(segment.EvalWarning); segment.EvalWarning == "" {
				segment.EvalWarningAt = nil
			}
			return s.Store.UpdateSegment(ctx, orgID, segment)
		}
		at := s.Clock()
		text := warning(fault)
		segment.Status, segment.EvalWarning, segment.EvalWarningAt = Invalid, text+keptOf(segment.EvalWarning, text), &at
		return s.Store.UpdateSegment(ctx, orgID, segment)
	})
}

// sortByDependency returns the segments sorted so that each comes after those that it tests.
// Cycles do not occur; their members would keep their order.
func sortByDependency(all []definition) []definition {
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

// judge updates the membership of some contacts in a segment, by the segment's current
// definition. It returns the number of contacts that entered or left, and whether the
// definition is still d. It skips a segment that is no longer active. If announced is true,
// it also calls Touch for those contacts, because other segments test this one.
func (s *Segments) judge(ctx context.Context, orgID string, d definition, contacts []string, announced bool) (int, bool, error) {
	changed, same := 0, true
	for chunk := range slices.Chunk(contacts, judgedAtOnce) {
		moved := 0
		err := s.Transactor.InTx(ctx, func(ctx context.Context) error {
			current, active, err := s.lockSegment(ctx, orgID, d.ID)
			if same = same && active && d.isSame(current); err != nil || !active {
				return err
			}
			// The time is taken after the segment is locked, so that the times in the
			// log are in order.
			entered, left, err := s.Store.JudgeMembers(ctx, current.question(orgID, s.Clock(), chunk), d.ID)
			if moved = entered + left; err != nil || moved == 0 || !announced {
				return err
			}
			return s.Store.Touch(ctx, orgID, chunk)
		})
		if err != nil {
			return changed, same, err
		}
		changed += moved
	}
	return changed, same, nil
}

func (d definition) question(orgID string, now time.Time, contacts []string) Question {
	return Question{OrgID: orgID, Predicate: d.checked, Slots: d.slots, Now: now, Contacts: contacts}
}

// lockSegment returns the current segment with the current schema and locks it until the
// transaction ends. An edit of either waits for that. It reports whether the segment is
// active and compiles.
func (s *Segments) lockSegment(ctx context.Context, orgID, id string) (definition, bool, error) {
	segment, err := s.Store.LockSegment(ctx, orgID, id)
	if err != nil || segment.Status != Active {
		return definition{}, false, err
	}
	schema, err := s.Store.PredicateSchema(ctx, orgID)
	if err != nil {
		return definition{}, false, err
	}
	checked, fault := predicate.Compile(segment.Source, schema.Schema)
	return definition{segment, checked, schema.Slots}, fault == nil, nil
}

// isSame reports whether the segment is unchanged since d was read, so that its contacts
// need no new evaluation. It compares the times of edits. An edit that was undone
// counts, because contacts were not evaluated in between.
func (d definition) isSame(now definition) bool {
	if d.Source != now.Source || !d.UpdatedAt.Equal(now.UpdatedAt) || (d.EvalWarningAt == nil) != (now.EvalWarningAt == nil) {
		return false
	}
	if d.EvalWarningAt != nil && !d.EvalWarningAt.Equal(*now.EvalWarningAt) {
		return false
	}
	for _, name := range now.checked.References().Attributes {
		if d.slots[name] != now.slots[name] {
			return false
		}
	}
	return d.checked.Equal(now.checked)
}

// sweep evaluates all contacts. Without a lock, it searches for contacts whose
// membership is wrong, and then evaluates only these. It starts again if the segment
// changed in between.
func (s *Segments) sweep(ctx context.Context, orgID string, d definition, tested bool) error {
	for {
		now := s.Clock()
		contacts, err := s.Store.Differing(ctx, d.question(orgID, now, nil), d.ID, differingAtOnce)
		if err != nil {
			return err
		}
		changed, same, err := s.judge(ctx, orgID, d, contacts, tested)
		if err != nil {
			return err
		}
		if same && len(contacts) == differingAtOnce && changed > 0 {
			continue
		}
		current, active, err := s.endSweep(ctx, orgID, d, same, now)
		if err != nil || !active || same && d.isSame(current) {
			return err
		}
		d = current
	}
}

// endSweep stores the end of a sweep by d, if swept is true and the segment is
// unchanged. It returns the current segment.
func (s *Segments) endSweep(ctx context.Context, orgID string, d definition, swept bool, at time.Time) (definition, bool, error) {
	var current definition
	var active bool
	err := s.Transactor.InTx(ctx, func(ctx context.Context) error {
		var err error
		current, active, err = s.lockSegment(ctx, orgID, d.ID)
		if err != nil || !active || !swept || !d.isSame(current) {
			return err
		}
		return s.Store.SetEvaluatedAt(ctx, orgID, d.ID, at)
	})
	return current, active, err
}

// The beginnings of warnings. The fault of the predicate follows.
const (
	broken = "It no longer compiles: "
	// lost is the warning after a list or a topic was deleted: its members or choices do
	// not come back with its name.
	lost = "It no longer compiles, and what it tests was deleted: "
	// replaced is the warning after something new took the name of a deleted list or
	// topic.
	replaced = "What it tests was deleted, and something new has the name: "
)

// earlier separates the part of a warning that ends with a repair from the part that
// stays.
const earlier = "\nBefore that: "

// keptOf returns the part of a segment's warning that outlasts a repair and has to
// follow the next warning. It is "" if the next warning does not end with a repair.
func keptOf(warning, next string) string {
	if kept := afterRepair(warning); kept != "" && strings.HasPrefix(next, broken) {
		return earlier + kept
	}
	return ""
}

// afterRepair returns the warning of a segment that compiles again, "" if nothing was
// lost. Other warnings stay until the segment is saved.
func afterRepair(warning string) string {
	if strings.HasPrefix(warning, broken) {
		_, kept, _ := strings.Cut(warning, earlier)
		return kept
	}
	if fault, of := strings.CutPrefix(warning, lost); of {
		return replaced + fault
	}
	return warning
}

// warning returns a sentence with the first fault of a predicate, cut to a length that
// can be stored.
func warning(fault error) string { return broken + firstFault(fault) }

func firstFault(fault error) string {
	const longest = 500
	text := fault.Error()
	if faults := faultsOf(fault); len(faults) > 0 {
		text = faults[0].Error()
	}
	if len(text) > longest {
		text = string([]rune(text)[:min(longest/4, len([]rune(text)))])
	}
	return text
}
