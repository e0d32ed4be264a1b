package predicatelint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
)

// addConsequences adds to the findings what they mean for the whole predicate.
func (l *linter) addConsequences(root *predicate.Part) {
	if len(l.findings) == 0 {
		return
	}
	never, always := l.unsatisfiable(nil, root, true), l.unsatisfiable(nil, root, false)
	for i, f := range l.findings {
		switch {
		case never && f.kind == Never:
			l.findings[i].consequence = "so no contact matches the predicate"
		case always && f.kind == Always:
			l.findings[i].consequence = "so every contact matches the predicate"
		}
	}
}

// checkTests adds the findings about single tests: repeated values, times before what is stored,
// segments that lead back to this one, and the findings about where-conditions.
func (l *linter) checkTests(root *predicate.Part) {
	for _, p := range root.Tests() {
		switch n := p.Test.(type) {
		case *predicate.In:
			l.checkValues(n)
		case *predicate.EventTest:
			l.checkWindow(n, p.Negated)
			if n.Source.Where != nil {
				noun, where := l.noun, predicate.PartsOf(n.Source.Where)
				l.noun = "event"
				l.checkPart(where, nil)
				l.checkTests(where)
				l.noun = noun
			}
		case *predicate.Membership:
			l.checkCircle(n)
		}
	}
}

// checkValues adds a finding for each value that occurs twice in a list.
func (l *linter) checkValues(n *predicate.In) {
	for i, v := range n.Values {
		if slices.Contains(n.Values[:i], v) && i < len(n.ValuesAt) {
			l.add(finding{kind: Repeated, at: n.ValuesAt[i], text: "this value is in the list already; remove it"})
		}
	}
}

const dayMicros = 86_400_000_000

// checkWindow adds a finding if an event test is about times before the oldest events that are
// stored. An activity may be recorded long after it happened, so old ones may be stored.
func (l *linter) checkWindow(n *predicate.EventTest, negated bool) {
	days, deleted, late := l.facts.MessageDays, "messages and their events are deleted %d days after they are sent", "nothing"
	if n.Source.Event.Kind == predicate.ActivityEvent {
		days, deleted, late = l.facts.ActivityDays, "activities are deleted %d days after they are recorded", "only activities that were recorded later"
	}
	if days == 0 {
		return
	}
	// whole days are deleted, and a little later
	oldest, consequence := l.facts.Now.UnixMicro()-int64(days+2)*dayMicros, ""
	s := n.Source
	switch {
	case s.HasBetween && s.Between.Until <= oldest:
		consequence = "so this window, which ends before that, finds " + late
	case s.HasBetween && s.Between.From < oldest, s.HasWithin && s.Within.Micros() > int64(days+2)*dayMicros:
		consequence = "so the older part of this window finds " + late
	case n.Kind == predicate.Last || n.Kind == predicate.First:
		if n.Time.At(l.facts.Now) > oldest || !isBefore(n.Op, negated) {
			return
		}
		consequence = "so a test of such an old time finds " + late
	}
	if consequence != "" {
		l.add(finding{kind: Expired, at: n.Offset, text: fmt.Sprintf(deleted, days) + ", " + consequence})
	}
}

// isBefore reports whether a test with the operator requires a time at or before the
// operand.
func isBefore(op predicate.Op, negated bool) bool {
	switch op {
	case predicate.Less, predicate.LessOrEqual, predicate.Equal:
		return !negated
	case predicate.Greater, predicate.GreaterOrEqual, predicate.NotEqual:
		return negated
	}
	return false
}

// checkCircle adds a finding if a tested segment leads back to the segment that has the
// predicate.
func (l *linter) checkCircle(n *predicate.Membership) {
	if !n.Segment || l.facts.Key == "" {
		return
	}
	path := Path(l.facts.Tests, []string{n.Key}, l.facts.Key)
	switch len(path) {
	case 0:
		return
	case 1:
		l.add(finding{kind: Circular, at: n.KeyAt, text: "this segment tests itself here, so it cannot be saved"})
	default:
		for i, key := range path {
			path[i] = core.Quote(key)
		}
		l.add(finding{kind: Circular, at: n.KeyAt, text: "this segment tests itself here, through " + strings.Join(path[:len(path)-1], ", ") + ", so it cannot be saved"})
	}
}

// Path returns a shortest path of tests that leads to the segment with the key goal: the
// keys of the segments on it, from one of the keys in from to the goal. It returns nil if
// there is none. tests maps each segment's key to the keys of the segments that it tests.
func Path(tests map[string][]string, from []string, goal string) []string {
	before := map[string]string{}
	queue := slices.Clone(from)
	for _, key := range from {
		before[key] = ""
	}
	for ; len(queue) > 0; queue = queue[1:] {
		if queue[0] == goal {
			var path []string
			for key := goal; key != ""; key = before[key] {
				path = append([]string{key}, path...)
			}
			return path
		}
		for _, next := range tests[queue[0]] {
			if _, seen := before[next]; !seen {
				before[next] = queue[0]
				queue = append(queue, next)
			}
		}
	}
	return nil
}
