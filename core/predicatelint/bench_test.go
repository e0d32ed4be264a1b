package predicatelint_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/predicatelint"
)

// join returns n terms with the separator between them. term gets their numbers.
func join(n int, separator string, term func(i int) string) string {
	terms := make([]string, n)
	for i := range terms {
		terms[i] = term(i)
	}
	return strings.Join(terms, separator)
}

// numbers returns a list of 100 numbers, the most that a list may have.
func numbers(from int) string {
	return "[" + join(100, ",", func(i int) string { return strconv.Itoa(from + i) }) + "]"
}

// largest returns predicates at the limits of nodes, of values in lists, or of bytes. Each
// of them makes another part of the search for contradictions slow.
func largest() map[string]string {
	in := func(field string, from int) func(int) string {
		return func(int) string { return field + " in " + numbers(from) }
	}
	long := strings.Repeat("a", 200)
	return map[string]string{
		"numbers":     join(99, " and ", func(i int) string { return "attr.age != " + strconv.Itoa(i) }) + " and (" + join(90, " or ", func(i int) string { return "attr.age > " + strconv.Itoa(i) }) + ")",
		"lists":       join(190, " and ", in("attr.age", 0)),
		"other lists": join(60, " and ", in("attr.age", 0)) + " and (" + join(60, " or ", in("attr.age", 200)) + ")",
		"pairs":       join(60, " and ", func(i int) string { return fmt.Sprintf("(attr.age = %d or attr.city = %q)", i, strconv.Itoa(i)) }),
		"texts": fmt.Sprintf("attr.city = %q and ", strings.Repeat("a", 30_000)) + join(60, " and ", func(int) string { return fmt.Sprintf("not attr.city contains %q", long+"b") }) +
			" and (" + join(30, " or ", func(int) string { return fmt.Sprintf("not attr.city contains %q", long+"c") }) + ")",
		"where": "exists(activity.buy where " + join(60, " and ", in("total", 0)) + " and (" + join(60, " or ", in("total", 200)) + "))",
		"contexts": "exists(activity.buy where " + join(80, " and ", in("total", 0)) + ") and " +
			join(35, " and ", func(i int) string { return fmt.Sprintf("(attr.age > %d or attr.age = %d)", i, i) }),
	}
}

// TestWorkIsBounded checks that the largest predicates take at most the allowed number of
// steps. The search notices the limit after an action, so it may exceed the number by 2 %.
func TestWorkIsBounded(t *testing.T) {
	t.Parallel()
	spent := 0
	for name, source := range largest() {
		checked, err := predicate.Compile(source, schema)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		steps := predicatelint.StepsOf(checked, facts)
		if steps > predicatelint.MaxSteps+predicatelint.MaxSteps/50 {
			t.Errorf("%s takes %d steps", name, steps)
		}
		spent = max(spent, steps)
	}
	if spent < predicatelint.MaxSteps {
		t.Errorf("the largest predicates take only %d steps", spent)
	}
}

// BenchmarkLargest measures [predicatelint.Check] for the largest predicates, beside
// [predicate.Compile] of the same texts.
func BenchmarkLargest(b *testing.B) {
	for name, source := range largest() {
		checked, err := predicate.Compile(source, schema)
		if err != nil {
			b.Fatalf("%s: %v", name, err)
		}
		b.Run(strings.ReplaceAll(name, " ", "_")+"/compile", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = predicate.Compile(source, schema)
			}
		})
		b.Run(strings.ReplaceAll(name, " ", "_")+"/check", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				predicatelint.Check(checked, facts)
			}
		})
	}
}

// BenchmarkUsual measures the same for a predicate that a person writes.
func BenchmarkUsual(b *testing.B) {
	const source = `attr.city = "Graz" and attr.age > 30 and count(activity.buy within 30d) >= 1`
	checked, err := predicate.Compile(source, schema)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("compile", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = predicate.Compile(source, schema)
		}
	})
	b.Run("check", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			predicatelint.Check(checked, facts)
		}
	})
}
