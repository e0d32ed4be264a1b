package predicatelint

import (
	"math"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core/predicate"
)

// fieldPossible reports whether the literals, which test one field, may all hold: for an
// absent value, or for a value of the field's type.
func (r *prover) fieldPossible(group []literal) bool {
	f, _ := predicate.FieldOf(group[0].part.Test)
	if f.Source != predicate.Email && possibleWithout(group) {
		return true
	}
	var tests []literal
	for _, one := range group {
		known, is := one.part.Test.(*predicate.Known)
		if is && known.Want != one.base() {
			return false
		}
		if !is {
			tests = append(tests, one)
		}
	}
	switch f.Type {
	case predicate.Number:
		return r.numberPossible(tests)
	case predicate.Datetime:
		return r.timePossible(tests)
	case predicate.Bool:
		return r.boolPossible(tests)
	}
	return r.textPossible(tests)
}

// possibleWithout reports whether the literals hold if the value is absent. All tests
// except Known are then Unknown.
func possibleWithout(group []literal) bool {
	return !slices.ContainsFunc(group, func(one literal) bool {
		if known, is := one.part.Test.(*predicate.Known); is {
			return known.Want == one.base()
		}
		return one.want
	})
}

// numberPossible reports whether a number exists for which the tests hold. Between two
// neighbouring operands all tests have the same results, so it is enough to try each
// operand and the numbers beside it.
func (r *prover) numberPossible(tests []literal) bool {
	candidates := []float64{0}
	for _, one := range tests {
		for _, v := range operands(one.part.Test) {
			candidates = append(candidates, v.Number, math.Nextafter(v.Number, math.Inf(-1)), math.Nextafter(v.Number, math.Inf(1)))
		}
	}
	return possible(r, candidates, tests, func(n predicate.Node, x float64) bool {
		if c, is := n.(*predicate.Compare); is {
			return predicate.Holds(c.Op, x, c.Value.Number)
		}
		return slices.ContainsFunc(operands(n), func(v predicate.Value) bool { return v.Number == x })
	}, func(x float64) bool { return math.Abs(x) <= predicate.MaxNumber })
}

// timePossible reports whether a time may exist for which the tests hold. Tests of fixed
// times and tests relative to now are looked at separately, because now passes.
func (r *prover) timePossible(tests []literal) bool {
	var fixed, relative []literal
	for _, one := range tests {
		if isRelative(one.part.Test) {
			relative = append(relative, one)
		} else {
			fixed = append(fixed, one)
		}
	}
	return r.momentPossible(fixed) && r.momentPossible(relative)
}

// isRelative reports whether a test compares a time with a time relative to now.
func isRelative(n predicate.Node) bool {
	switch n := n.(type) {
	case *predicate.Age:
		return true
	case *predicate.Compare:
		return n.Value.Moment.Relative
	}
	return false
}

// momentPossible reports whether a time exists for which the tests hold. They are all of
// fixed times or all relative to now, and times count from 1970 or from now.
func (r *prover) momentPossible(tests []literal) bool {
	candidates := []int64{0}
	for _, one := range tests {
		if age, is := one.part.Test.(*predicate.Age); is {
			candidates = appendBeside(candidates, -age.Low.Micros(), -age.High.Micros())
		}
		for _, v := range operands(one.part.Test) {
			candidates = appendBeside(candidates, v.Moment.Micros)
		}
	}
	return possible(r, candidates, tests, func(n predicate.Node, at int64) bool {
		switch n := n.(type) {
		case *predicate.Compare:
			return predicate.Holds(n.Op, at, n.Value.Moment.Micros)
		case *predicate.Age:
			if n.Between {
				return n.Low.Micros() <= -at && -at <= n.High.Micros()
			}
			return predicate.Holds(n.Op, -at, n.Low.Micros())
		}
		return slices.ContainsFunc(operands(n), func(v predicate.Value) bool { return v.Moment.Micros == at })
	}, nil)
}

// appendBeside appends numbers and the numbers beside them.
func appendBeside(candidates []int64, of ...int64) []int64 {
	for _, n := range of {
		candidates = append(candidates, n-1, n, n+1)
	}
	return candidates
}

func (r *prover) boolPossible(tests []literal) bool {
	return possible(r, []bool{false, true}, tests, func(n predicate.Node, x bool) bool {
		if c, is := n.(*predicate.Compare); is {
			return (x == c.Value.Bool) == (c.Op == predicate.Equal)
		}
		return slices.ContainsFunc(operands(n), func(v predicate.Value) bool { return v.Bool == x })
	}, nil)
}

// textPossible reports whether a string may exist for which the tests hold. If a test
// allows only certain strings, it tries these.
func (r *prover) textPossible(tests []literal) bool {
	for _, one := range tests {
		if !isFinite(one) {
			continue
		}
		var candidates []string
		for _, v := range operands(one.part.Test) {
			candidates = append(candidates, v.Text)
		}
		return possible(r, candidates, tests, func(n predicate.Node, text string) bool {
			r.spend(len(text) / bytesPerStep)
			return textHolds(n, text)
		}, nil)
	}
	return !r.matchesConflict(tests)
}

// isFinite reports whether only the operands of the test are possible.
func isFinite(one literal) bool {
	switch n := one.part.Test.(type) {
	case *predicate.Compare:
		return (n.Op == predicate.Equal) == one.base()
	case *predicate.In:
		return one.base()
	}
	return false
}

func textHolds(n predicate.Node, text string) bool {
	switch n := n.(type) {
	case *predicate.Compare:
		return (text == n.Value.Text) == (n.Op == predicate.Equal)
	case *predicate.Match:
		return implies(text, text, text, n)
	}
	return slices.ContainsFunc(operands(n), func(v predicate.Value) bool { return v.Text == text })
}

// implies reports whether a string matches m if it begins with start, ends with end and
// contains inner.
func implies(start, end, inner string, m *predicate.Match) bool {
	switch m.How {
	case predicate.StartsWith:
		return strings.HasPrefix(start, m.Text)
	case predicate.EndsWith:
		return strings.HasSuffix(end, m.Text)
	}
	return strings.Contains(inner, m.Text)
}

// matchesConflict reports whether two tests of starts with, ends with and contains exclude
// each other.
func (r *prover) matchesConflict(tests []literal) bool {
	for _, one := range tests {
		m, is := one.part.Test.(*predicate.Match)
		if !is || !one.base() {
			continue
		}
		start, end := "", ""
		switch m.How {
		case predicate.StartsWith:
			start = m.Text
		case predicate.EndsWith:
			end = m.Text
		}
		for _, other := range tests {
			n, is := other.part.Test.(*predicate.Match)
			if !is || !r.spend(1+(len(m.Text)+len(n.Text))/bytesPerStep) {
				continue
			}
			if other.base() && excludes(m, n) || !other.base() && implies(start, end, m.Text, n) {
				return true
			}
		}
	}
	return false
}

// excludes reports whether no string matches both, because neither start (or end) continues
// the other.
func excludes(a, b *predicate.Match) bool {
	if a.How != b.How {
		return false
	}
	switch a.How {
	case predicate.StartsWith:
		return !strings.HasPrefix(a.Text, b.Text) && !strings.HasPrefix(b.Text, a.Text)
	case predicate.EndsWith:
		return !strings.HasSuffix(a.Text, b.Text) && !strings.HasSuffix(b.Text, a.Text)
	}
	return false
}

// operands returns the literals that a Compare or In compares with.
func operands(n predicate.Node) []predicate.Value {
	switch n := n.(type) {
	case *predicate.Compare:
		return []predicate.Value{n.Value}
	case *predicate.In:
		return n.Values
	}
	return nil
}

// possible reports whether all tests hold for one of the candidates that are allowed; nil
// allows all. Once the steps are used up, it returns true.
func possible[T any](r *prover, candidates []T, tests []literal, result func(predicate.Node, T) bool, allowed func(T) bool) bool {
	r.spend(len(candidates))
	for _, candidate := range candidates {
		if allowed != nil && !allowed(candidate) {
			continue
		}
		fits := true
		for _, one := range tests {
			if !r.spend(stepsOf(one.part.Test)) {
				return true
			}
			if fits = result(one.part.Test, candidate) == one.base(); !fits {
				break
			}
		}
		if fits {
			return true
		}
	}
	return false
}

// bytesPerStep is the number of bytes that a search in a text covers in the time of one step,
// in the slowest case: texts of one repeated letter.
const bytesPerStep = 4

// stepsOf returns the number of steps that it takes to compare a short value with the test.
func stepsOf(n predicate.Node) int {
	switch n := n.(type) {
	case *predicate.In:
		return 1 + len(n.Values)
	case *predicate.Match:
		return 1 + len(n.Text)/bytesPerStep
	}
	return 1
}
