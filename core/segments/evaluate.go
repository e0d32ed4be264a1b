package segments

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
)

const (
	// judgedAtOnce is the maximum number of contacts that one transaction evaluates.
	judgedAtOnce = 1000
	// differingAtOnce is the maximum number of contacts that an evaluation of all contacts
	// reads into memory at a time.
	differingAtOnce = 100_000
)

// evaluator does the work of the jobs that update the members of segments.
type evaluator struct{ Config }

// definition is a segment with its compiled predicate. slots maps attributes to the
// database columns that hold their values.
type definition struct {
	Segment
	checked *predicate.Checked
	slots   map[string]string
}

// definitions returns the active segments of an organization, sorted so that each segment
// comes after the segments that it tests. It also updates the status of segments. An active
// segment whose predicate does not compile becomes invalid. An invalid segment whose
// predicate compiles becomes active.
func (e evaluator) definitions(ctx context.Context, orgID string) ([]definition, error) {
	schema, err := e.Store.PredicateSchema(ctx, orgID)
	if err != nil {
		return nil, err
	}
	all, err := e.Store.AllSegments(ctx, orgID)
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
			if err := e.updateStatus(ctx, orgID, segment.ID); err != nil {
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

// updateStatus compiles the predicate of a segment with the current schema. If it does not
// compile, an active segment becomes invalid. If it compiles, an invalid segment becomes
// active. The schema is read after the segment is locked, because the schema that the
// caller has read may be out of date: another worker may already have repaired the segment.
func (e evaluator) updateStatus(ctx context.Context, orgID, id string) error {
	return e.Transactor.InTx(ctx, func(ctx context.Context) error {
		segment, err := e.Store.LockSegment(ctx, orgID, id)
		if err != nil {
			return err
		}
		schema, err := e.Store.PredicateSchema(ctx, orgID)
		if err != nil {
			return err
		}
		_, fault := predicate.Compile(segment.Source, schema.Schema)
		switch {
		case fault == nil && segment.Status == Invalid:
			return e.activate(ctx, orgID, segment)
		case fault != nil && segment.Status == Active:
			return e.invalidate(ctx, orgID, segment, fault)
		}
		return nil
	})
}

// activate makes a segment active again after its predicate compiles again. The caller has
// locked the segment. A running sweep (an evaluation of all contacts) finds the new
// UpdatedAt and starts again, because contacts were not evaluated while the segment was
// invalid; see definition.isSame.
func (e evaluator) activate(ctx context.Context, orgID string, segment Segment) error {
	segment.Status, segment.Stale, segment.UpdatedAt = Active, true, e.Clock()
	if segment.EvalWarning = warningAfterRepair(segment.EvalWarning); segment.EvalWarning == "" {
		segment.EvalWarningAt = nil
	}
	return e.Store.UpdateSegment(ctx, orgID, segment)
}

// invalidate gives a locked segment the status Invalid, because its predicate does not
// compile. fault is the error of the compilation.
func (e evaluator) invalidate(ctx context.Context, orgID string, segment Segment, fault error) error {
	at := e.Clock()
	text := warning(fault)
	segment.Status, segment.EvalWarning, segment.EvalWarningAt = Invalid, text+keptOf(segment.EvalWarning, text), &at
	return e.Store.UpdateSegment(ctx, orgID, segment)
}

// sortByDependency returns the segments sorted so that each segment comes after the
// segments that it tests. Save refuses cycles, so the order exists.
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

// judge updates the membership of the given contacts in the segment with the id d.ID, by
// the segment's current definition. It does nothing if the segment is not active any more.
// It returns the number of contacts that entered or left, and whether the current
// definition equals d. If announced is true and contacts entered or left, it also calls
// Touch, so that segments that test this segment are evaluated for these contacts.
func (e evaluator) judge(ctx context.Context, orgID string, d definition, contacts []string, announced bool) (int, bool, error) {
	changed, same := 0, true
	for chunk := range slices.Chunk(contacts, judgedAtOnce) {
		moved := 0
		err := e.Transactor.InTx(ctx, func(ctx context.Context) error {
			current, active, err := e.lockSegment(ctx, orgID, d.ID)
			if same = same && active && d.isSame(current); err != nil || !active {
				return err
			}
			// The time is read after the segment is locked, so that the times in the
			// membership log are in order.
			now := e.Clock()
			entered, exited, err := e.Members.JudgeMembers(ctx, current.question(orgID, now, chunk), d.ID)
			if moved = len(entered) + len(exited); err != nil || moved == 0 {
				return err
			}
			if e.OnMembers != nil {
				if err := e.OnMembers(ctx, orgID, d.ID, entered, exited, now); err != nil {
					return err
				}
			}
			if !announced {
				return nil
			}
			return e.Changes.Touch(ctx, orgID, chunk)
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

// lockSegment returns the segment, compiled with the current schema, and locks it until the
// transaction ends. Until then, edits of the segment or the schema wait. The second result
// is true if the segment is active and compiles.
func (e evaluator) lockSegment(ctx context.Context, orgID, id string) (definition, bool, error) {
	segment, err := e.Store.LockSegment(ctx, orgID, id)
	if err != nil || segment.Status != Active {
		return definition{}, false, err
	}
	schema, err := e.Store.PredicateSchema(ctx, orgID)
	if err != nil {
		return definition{}, false, err
	}
	checked, fault := predicate.Compile(segment.Source, schema.Schema)
	return definition{segment, checked, schema.Slots}, fault == nil, nil
}

// isSame reports whether the segment is unchanged since d was read, so that its contacts
// need no new evaluation. It compares the times of edits and not only the definitions. A
// segment that was changed and changed back is not the same, because contacts were not
// evaluated in between.
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

// sweep updates all members of a segment. Without a lock, it searches for contacts that
// match the predicate and are not members, or are members and do not match it. It then
// evaluates only these. It starts again if the segment has changed during the search.
// tested is true if other segments test this one.
func (e evaluator) sweep(ctx context.Context, orgID string, d definition, tested bool) error {
	for {
		now := e.Clock()
		contacts, err := e.Members.DifferingContacts(ctx, d.question(orgID, now, nil), d.ID, differingAtOnce)
		if err != nil {
			return err
		}
		changed, same, err := e.judge(ctx, orgID, d, contacts, tested)
		if err != nil {
			return err
		}
		if same && len(contacts) == differingAtOnce && changed > 0 {
			continue
		}
		current, active, err := e.endSweep(ctx, orgID, d, same, now)
		if err != nil || !active || same && d.isSame(current) {
			return err
		}
		d = current
	}
}

// endSweep ends a sweep (an evaluation of all contacts). It stores the time at if swept is
// true and the segment was not changed since d was read. It returns the current definition
// of the segment and whether the segment is active.
func (e evaluator) endSweep(ctx context.Context, orgID string, d definition, swept bool, at time.Time) (definition, bool, error) {
	var current definition
	var active bool
	err := e.Transactor.InTx(ctx, func(ctx context.Context) error {
		var err error
		current, active, err = e.lockSegment(ctx, orgID, d.ID)
		if err != nil || !active || !swept || !d.isSame(current) {
			return err
		}
		return e.Members.SetEvaluatedAt(ctx, orgID, d.ID, at)
	})
	return current, active, err
}

// The beginnings of Segment.EvalWarning: broken and lost for a predicate that does not
// compile, replaced for one that compiles again. A description of the predicate's fault
// follows each of them.
const (
	broken = "It no longer compiles: "
	// lost is the beginning of the warning about a list or topic that was deleted. If the
	// predicate compiles again, the warning stays, but begins with the text replaced: a new
	// list or topic of the same name does not have the members or choices of the deleted
	// one.
	lost = "It no longer compiles, and what it tests was deleted: "
	// replaced is the beginning of the warning if a list or topic that the predicate tests
	// was deleted and a new one has its name.
	replaced = "What it tests was deleted, and something new has the name: "
)

// earlier separates two parts of a warning. When the predicate compiles again, the part
// before the separator is removed and the part after it is kept.
const earlier = "\nBefore that: "

// keptOf returns the part of a warning that stays valid after the segment's predicate
// compiles again, for appending to the warning next. It returns "" if no such part exists.
// It also returns "" if next does not begin with the text broken, because only a warning
// with this beginning is cut at the separator when the predicate compiles again.
func keptOf(warning, next string) string {
	if kept := warningAfterRepair(warning); kept != "" && strings.HasPrefix(next, broken) {
		return earlier + kept
	}
	return ""
}

// warningAfterRepair returns the warning that a segment has after its predicate compiles
// again. It removes the part that says that the predicate does not compile. It returns ""
// if nothing else remains.
func warningAfterRepair(warning string) string {
	if strings.HasPrefix(warning, broken) {
		_, kept, _ := strings.Cut(warning, earlier)
		return kept
	}
	if fault, of := strings.CutPrefix(warning, lost); of {
		return replaced + fault
	}
	return warning
}

// warning returns the warning that a predicate does not compile, with its first fault. The
// fault is cut to a length that can be stored.
func warning(fault error) string { return broken + firstFault(fault) }

func firstFault(fault error) string {
	const longest = 500
	text := fault.Error()
	if faults := predicate.FaultsOf(fault); len(faults) > 0 {
		text = faults[0].Error()
	}
	if len(text) > longest {
		text = string([]rune(text)[:min(longest/4, len([]rune(text)))])
	}
	return text
}
