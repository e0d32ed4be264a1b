package predicatelint

import (
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core/predicate"
)

// literal is a statement about the result of a test: that the part, including its
// negation, is True, or that it is not True (False or Unknown).
type literal struct {
	part *predicate.Part
	want bool
}

// base returns the result that the test itself, without the negation of the part, must have
// if it is not Unknown.
func (l literal) base() bool { return l.want != l.part.Negated }

// unsatisfiable reports whether it is certain that p cannot be True (or, if want is false,
// that p cannot be something else) for a contact for which all literals of the context
// hold.
func (r *prover) unsatisfiable(context []literal, p *predicate.Part, want bool) bool {
	switch {
	case p.Kind == predicate.Test:
		return r.conflict(append(slices.Clip(context), literal{p, want}))
	case (p.Kind == predicate.All) == want:
		return r.exclusive(context, p.Parts, want)
	}
	for _, alternative := range p.Parts {
		if !r.unsatisfiable(context, alternative, want) {
			return false
		}
	}
	return true
}

// exclusive reports whether it is certain that the parts cannot all be True (or, if want is
// false, all be something else) in the context.
func (r *prover) exclusive(context []literal, parts []*predicate.Part, want bool) bool {
	if !r.spend(len(context) + len(parts)) {
		return false
	}
	tests, others := flatten(parts, want)
	all := slices.Clip(context)
	for _, test := range tests {
		all = append(all, literal{test, want})
	}
	if r.conflict(all) {
		return true
	}
	return slices.ContainsFunc(others, func(other *predicate.Part) bool { return r.unsatisfiable(all, other, want) })
}

// flatten returns the tests among the parts and the parts with alternatives. It replaces a
// part whose own parts must all hold by these.
func flatten(parts []*predicate.Part, want bool) (tests, others []*predicate.Part) {
	for _, p := range parts {
		switch {
		case p.Kind == predicate.Test:
			tests = append(tests, p)
		case (p.Kind == predicate.All) == want:
			inner, more := flatten(p.Parts, want)
			tests, others = append(tests, inner...), append(others, more...)
		default:
			others = append(others, p)
		}
	}
	return tests, others
}

// checkPart adds the findings about p and the parts below it. context has the tests that must be
// True wherever p counts, because an "and" joins them with p.
func (l *linter) checkPart(p *predicate.Part, context []*predicate.Part) {
	switch {
	case l.never(p, context), l.always(p):
		context = nil // the finding says what is wrong with the context
	case p.Kind == predicate.All:
		tests, _ := flatten(p.Parts, true)
		context = slices.Concat(context, tests)
	}
	l.checkRepeats(p)
	for _, inner := range p.Parts {
		if inner.Kind == predicate.Test && p.Kind == predicate.All {
			l.checkPart(inner, nil)
		} else {
			l.checkPart(inner, context)
		}
	}
}

// never reports whether no contact can match p in the context, and adds this finding. It
// adds none if a part directly below p has it, and it returns false for alternatives:
// checkPart looks at each of them.
func (l *linter) never(p *predicate.Part, context []*predicate.Part) bool {
	if p.Kind == predicate.Any || !l.exclusive(nil, append(slices.Clip(context), p), true) {
		return false
	}
	if !l.hasInner(p, true) {
		l.add(finding{kind: Never, parts: l.smallestConflict(context, p, true)})
	}
	return true
}

// always reports whether every contact matches p, and adds this finding. It adds none if a
// part directly below p has it, and it returns false for parts with "and": checkPart
// looks at each part of them.
func (l *linter) always(p *predicate.Part) bool {
	if p.Kind == predicate.All || !l.unsatisfiable(nil, p, false) {
		return false
	}
	if !l.hasInner(p, false) {
		l.add(finding{kind: Always, parts: l.smallestConflict(nil, p, false)})
	}
	return true
}

// hasInner reports whether one of the parts directly below p can never be True (or, if want
// is false, always is).
func (l *linter) hasInner(p *predicate.Part, want bool) bool {
	return slices.ContainsFunc(p.Parts, func(inner *predicate.Part) bool { return l.unsatisfiable(nil, inner, want) })
}

// smallestConflict returns those parts of the context and of p that already exclude each
// other: without any one of them, the others do not.
func (l *linter) smallestConflict(context []*predicate.Part, p *predicate.Part, want bool) []*predicate.Part {
	tests, others := flatten([]*predicate.Part{p}, want)
	kept := slices.Concat(context, tests, others)
	for i := 0; i < len(kept); {
		fewer := slices.Delete(slices.Clone(kept), i, i+1)
		if len(fewer) > 0 && l.exclusive(nil, fewer, want) {
			kept = fewer
		} else {
			i++
		}
	}
	slices.SortStableFunc(kept, func(a, b *predicate.Part) int { return int(a.At - b.At) })
	return kept
}

// checkRepeats adds a finding for each part of p that is the same as an earlier part of p.
func (l *linter) checkRepeats(p *predicate.Part) {
	first := map[string]*predicate.Part{}
	for _, inner := range p.Parts {
		text := textOf(inner)
		if earlier, known := first[text]; known {
			l.add(finding{kind: Repeated, parts: []*predicate.Part{inner, earlier}})
			continue
		}
		first[text] = inner
	}
}

// textOf returns a text that is the same for parts that say the same in the same words.
func textOf(p *predicate.Part) string {
	if p.Kind == predicate.Test {
		if p.Negated {
			return "not " + predicate.Canonical(p.Test)
		}
		return predicate.Canonical(p.Test)
	}
	var b strings.Builder
	b.WriteString(string(p.Kind))
	for _, inner := range p.Parts {
		b.WriteString("(" + textOf(inner) + ")")
	}
	return b.String()
}
