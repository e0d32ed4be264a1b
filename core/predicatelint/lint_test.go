package predicatelint_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/goldentest"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/predicatelint"
)

var update = flag.Bool("update", false, "write the golden files anew")

var schema = predicate.Schema{
	Attributes: map[string]predicate.AttributeType{
		"plan": {Type: predicate.Enum, EnumValues: []string{"a", "b"}}, "city": {Type: predicate.String},
		"age": {Type: predicate.Number}, "vip": {Type: predicate.Bool}, "joined": {Type: predicate.Datetime},
	},
	Properties: map[predicate.ActivityProperty]predicate.Type{{Activity: "buy", Property: "total"}: predicate.Number},
	Topics:     map[string]bool{"news": true, "offers": false},
	Lists:      map[string]string{"beta": "list-1"},
	Segments:   map[string]string{"one": "segment-1", "two": "segment-2", "own": "segment-3"},
}

var facts = predicatelint.Facts{
	Now: time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC), ActivityDays: 90, MessageDays: 365,
	Key: "own", Tests: map[string][]string{"one": {"two", "three"}, "two": {"own"}, "three": {"three"}},
}

// examples has predicates with and without findings, by topic.
var examples = []string{
	"# Contradictions under and",
	`attr.plan = "a" and attr.plan = "b"`,
	"attr.age > 5\n  and attr.vip = true\n  and attr.age < 3",
	`not attr.vip = true and attr.vip = true`,
	`attr.city = "x" and attr.city != "x"`,
	`attr.city = "x" and not has attr.city`,
	`attr.city in ["x", "y"] and attr.city contains "z"`,
	`attr.city starts with "ab" and attr.city starts with "b"`,
	`attr.city starts with "ab" and not attr.city contains "b"`,
	`attr.age in [1, 2] and attr.age > 2`,
	`attr.vip != true and attr.vip != false`,
	`attr.joined > 2026-02-01 and attr.joined < 2026-01-01`,
	`attr.joined > now - 5d and now - attr.joined > 5d`,
	`now - attr.joined between 1d and 2d and now - attr.joined > 1w`,
	`exists(open) and count(open) = 0`,
	`exists(open within 7d) and not exists(open within 30d)`,
	`count(click where url = "x") > 3 and count(click) < 2`,
	`last(open within 30d) < now - 60d`,
	`last(open) > now - 5d and not exists(open)`,
	`min(total of activity.buy) > 5 and min(total of activity.buy) <= 5`,
	`count(open) > 1 and count(open) < 2`,
	`subscribed to "news" and opted out of "news"`,
	`subscribed to "news" and unsubscribed from all`,
	`subscribed to "news" and not subscribed to "offers" and not opted out of "offers"`,
	`suppressed and not suppressed`,
	`in list "beta" and not in list "beta"`,
	`attr.plan = "a" and (attr.plan = "b" or attr.plan = "c")`,
	`attr.plan = "a" and (attr.plan = "b" or attr.age > 5)`,
	`attr.age > 5 and not (attr.age >= 3 or attr.vip = true)`,
	`attr.age > 5 or attr.plan = "a" and attr.plan = "b"`,
	"# Never and always",
	`attr.email is unknown`,
	`count(open) < 0 or attr.age > 5`,
	`has attr.email and attr.age > 5`,
	`count(open) >= 0`,
	`attr.plan is known or attr.plan is unknown`,
	`attr.plan = "a" or attr.plan != "a" or attr.plan is unknown`,
	`exists(open) or not exists(open)`,
	`suppressed or not suppressed and attr.age > 5`,
	`not (suppressed and not suppressed)`,
	`exists(open where subject = "a" and subject = "b")`,
	`count(open where subject = "a" and subject = "b") = 0`,
	"# Repeated",
	`attr.age > 5 and attr.vip = true and attr.age > 5`,
	`(attr.age > 5 or suppressed) and (attr.age > 5 or suppressed)`,
	`attr.plan in ["a", "b", "a"]`,
	`exists(click where url = "x" or url = "x")`,
	"# Not stored",
	`exists(activity.buy within 93d)`,
	`exists(activity.buy within 92d)`,
	`exists(activity.buy between 2026-01-01 and 2026-02-01)`,
	`exists(activity.buy between 2026-01-01 and 2026-06-01)`,
	`exists(open between 2025-01-01 and 2025-02-01)`,
	`exists(open within 2y)`,
	`last(open) < now - 2y`,
	`not last(open) > 2024-01-01`,
	`last(open) > now - 2y`,
	"# Circles",
	`in segment "own"`,
	`in segment "one" or in segment "two"`,
	"# No findings, although it looks like it",
	`attr.age = 1 or attr.age != 1`,
	`not attr.vip = true or attr.vip = true`,
	`attr.joined > now and attr.joined < 2020-01-01`,
	`attr.age > 5 and attr.age < 6`,
	`count(open) > 1 and count(open) < 3`,
	`attr.plan != "a" and attr.plan != "b"`,
	`attr.plan = "a" or attr.plan = "b"`,
	`has attr.plan and attr.plan != "a"`,
	`attr.city starts with "a" and attr.city ends with "b" and not attr.city contains "c"`,
	`attr.city starts with "a" and attr.city starts with "ab"`,
	`exists(open within 30d) and not exists(open within 7d)`,
	`count(click where url = "x") < 3 and count(click) > 5`,
	`subscribed to "news" and not subscribed to "offers"`,
	`not subscribed to "news" and not opted out of "news"`,
	`sum(total of activity.buy) > 5 or sum(total of activity.buy) <= 5 or not exists(activity.buy)`,
	`first(open) < now - 30d and last(open) > now - 5d`,
	`exists(open where subject = "a") and exists(open where subject = "b")`,
}

// TestGoldenFindings compares the warnings of this package about the examples with a golden
// file.
func TestGoldenFindings(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, source := range examples {
		b.WriteString(source + "\n")
		if strings.HasPrefix(source, "#") {
			continue
		}
		checked, err := predicate.Compile(source, schema)
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		for _, w := range predicatelint.Check(checked, facts) {
			if w.Kind != predicate.WarnAbsence {
				fmt.Fprintf(&b, "    line %d, column %d: %s: %s", w.Line, w.Column, w.Kind, w.Message)
				if w.Suggestion != "" {
					fmt.Fprintf(&b, " [%s]", w.Suggestion)
				}
				b.WriteString("\n")
			}
		}
	}
	file := filepath.Join("testdata", "findings.golden")
	if *update {
		if err := goldentest.Write(file, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("%s differs; -update writes it anew. Got:\n%s", file, b.String())
	}
}

// TestFewFacts checks that the zero Facts give no warnings about time and circles.
func TestFewFacts(t *testing.T) {
	t.Parallel()
	checked, err := predicate.Compile(`exists(activity.buy within 9y) and last(open) < 1990-01-01 and in segment "own"`, schema)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range predicatelint.Check(checked, predicatelint.Facts{}) {
		if w.Kind != predicate.WarnAbsence {
			t.Errorf("a warning: %+v", w)
		}
	}
}

// TestLongPredicates checks that predicates at the limit of nodes have at most 20 warnings.
// Without the limit of steps, the test would not end before its timeout.
func TestLongPredicates(t *testing.T) {
	t.Parallel()
	repeat := func(format, separator string, n int) string {
		parts := make([]string, 0, n)
		for i := range n {
			parts = append(parts, strings.ReplaceAll(format, "N", fmt.Sprint(i)))
		}
		return strings.Join(parts, separator)
	}
	for name, source := range map[string]string{
		"numbers":      repeat("attr.age > N", " and ", 199),
		"alternatives": "(" + repeat("attr.age > N", " and ", 60) + ") and (" + repeat("attr.age < -N", " or ", 60) + ") and (" + repeat("attr.age != N", " or ", 60) + ")",
		"texts":        repeat(`attr.city contains "N"`, " and ", 100) + " and " + repeat(`not attr.city contains "xN"`, " and ", 40),
		"repeated":     repeat("suppressed", " and ", 100),
	} {
		checked, err := predicate.Compile(source, schema)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		count := 0
		for _, w := range predicatelint.Check(checked, facts) {
			if w.Kind != predicate.WarnAbsence {
				count++
			}
		}
		if count > 20 {
			t.Errorf("%s: %d warnings", name, count)
		}
	}
}

func TestPath(t *testing.T) {
	t.Parallel()
	for goal, want := range map[string]string{"own": "one two own", "three": "one three", "one": "one", "elsewhere": ""} {
		if got := strings.Join(predicatelint.Path(facts.Tests, []string{"one"}, goal), " "); got != want {
			t.Errorf("to %s: %q, want %q", goal, got, want)
		}
	}
}
