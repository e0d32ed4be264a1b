package predicate_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/predicate/predicatetest"
	"pgregory.net/rapid"
)

// withoutPlaces is a comparison option that ignores the offsets of nodes in the source.
var withoutPlaces = cmpopts.IgnoreTypes(predicate.Offset(0))

// TestCanonicalSpelling checks that the first predicate of each pair is printed as the
// second, its canonical spelling. If the second text is empty, the first one is already
// canonical.
func TestCanonicalSpelling(t *testing.T) {
	t.Parallel()
	for _, row := range [][2]string{
		{`attr.plan="pro"`, `attr.plan = "pro"`},
		{"attr.plan\n\t=\r\n\"pro\"", `attr.plan = "pro"`},
		{"# first\nattr.vip = true // last", `attr.vip = true`},
		{`(((attr.vip = true)))`, `attr.vip = true`},
		{`attr.vip = true and (attr.mrr > 1 and attr.mrr < 5)`, `attr.vip = true and attr.mrr > 1 and attr.mrr < 5`},
		{`attr.vip = true and attr.mrr > 1 or suppressed`, ``},
		{`(attr.vip = true or suppressed) and attr.mrr > 1`, ``},
		{`not (attr.vip = true and suppressed)`, ``},
		{`not not suppressed`, ``},
		{`attr.mrr = -0`, `attr.mrr = 0`},
		{`attr.mrr >= -12.50`, `attr.mrr >= -12.5`},
		{`attr.mrr < 1e3`, `attr.mrr < 1000`},
		{`attr.mrr < 1E+20`, `attr.mrr < 1e+20`},
		{`attr.plan in["a","b"]`, `attr.plan in ["a", "b"]`},
		{`attr.city starts  with "\"\\\n\t\r"`, `attr.city starts with "\"\\\n\t\r"`},
		{`attr.city ends with "#//é"`, ``},
		{`has attr.plan and attr.plan is known or attr.plan is unknown`, ``},
		{`now-attr.joined>14d`, `now - attr.joined > 14d`},
		{`now - attr.joined between 7d and 1.5mo`, ``},
		{`attr.joined < now-7d or attr.joined > now+1w or attr.joined = now`, `attr.joined < now - 7d or attr.joined > now + 1w or attr.joined = now`},
		{`attr.joined = 2026-01-31`, ``},
		{`attr.joined = "2026-01-31T09:00:00+02:00"`, ``},
		{`count(open)>=1`, `count(open) >= 1`},
		{`exists(activity."purchase")`, `exists(activity.purchase)`},
		{`exists(activity."Order paid") or exists(activity.order.paid-2)`, ``},
		{`exists(activity.first)`, ``},
		{`exists(activity.x where property."sku" = "a" and property."count" > 1 and property."Order id" is known)`, `exists(activity.x where sku = "a" and property.count > 1 and property."Order id" is known)`},
		{`exists(activity.x within 30d where a = 1)`, `exists(activity.x where a = 1 within 30d)`},
		{`exists(activity.x where a = 1 or b = 2 where c = 3)`, `exists(activity.x where (a = 1 or b = 2) and c = 3)`},
		{`exists(open between 2026-01-01 and 2026-01-31 within 1y)`, `exists(open within 1y between 2026-01-01 and 2026-01-31)`},
		{`exists(open between "2026-01-01T00:00:00Z" and "2026-01-31T23:59:59.999999Z")`, `exists(open between 2026-01-01 and 2026-01-31)`},
		{`exists(open between 2026-01-01 and "2026-01-01T12:00:00Z")`, ``},
		{`sum(amount of activity.purchase) > 5 and avg(property.count of activity.purchase) != 0`, ``},
		{`last(click) < now - 90d and first(click) >= 2025-01-01 and last(send) > "2025-01-01T00:00:01Z"`, ``},
		{`subscribed to "news" or opted out of "news" or unsubscribed from all or suppressed`, ``},
		{`in list "vip" and not in segment "engaged"`, ``},
	} {
		source, want := row[0], row[1]
		if want == "" {
			want = source
		}
		tree, err := predicate.Parse(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if tree.String() != want {
			t.Errorf("%s\nis printed as %s\nwant          %s", source, tree, want)
		}
		again, err := predicate.Parse(tree.String())
		if err != nil {
			t.Errorf("%s: %v", tree, err)
			continue
		}
		if difference := cmp.Diff(tree.Root, again.Root, withoutPlaces); difference != "" {
			t.Errorf("%s: reading what was printed differs: %s", source, difference)
		}
	}
}

func TestPrintedPredicatesAreReadAgain(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := predicatetest.Schemas().Draw(t, "schema")
		source := predicatetest.Predicates(s).Draw(t, "source")
		tree, err := predicate.Parse(source)
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		if tree.String() != source {
			t.Fatalf("%s\nis printed as %s", source, tree)
		}
		// Added white space and comments between two words must not change the tree.
		spaced, err := predicate.Parse("# comment\n" + strings.ReplaceAll(source, " and ", "\t\n and // or\n"))
		if strings.Contains(source, `" and "`) || strings.ContainsAny(source, "#/") {
			return
		}
		if err != nil {
			t.Fatalf("%s, spaced: %v", source, err)
		}
		if difference := cmp.Diff(tree.Root, spaced.Root, withoutPlaces); difference != "" {
			t.Fatalf("%s: spacing makes a difference: %s", source, difference)
		}
	})
}

func TestParsePrefix(t *testing.T) {
	t.Parallel()
	source := "if  attr.vip = true and\n suppressed {\n send \"x\" }"
	tree, next, err := predicate.ParsePrefix(source, 2)
	if err != nil {
		t.Fatal(err)
	}
	if tree.Source() != source || tree.String() != "attr.vip = true and suppressed" || source[next] != '{' {
		t.Errorf("read %q and stopped at %q", tree, source[next:])
	}
	line, column := tree.Position(tree.Root.(*predicate.And).Terms[1].Pos())
	if line != 2 || column != 2 {
		t.Errorf("the second term is at line %d, column %d, want 2, 2", line, column)
	}
	if _, _, err = predicate.ParsePrefix(source, 0); err == nil || !strings.HasPrefix(err.Error(), "line 1, column 1:") {
		t.Errorf("a word that begins no predicate: %v", err)
	}
	if _, next, err = predicate.ParsePrefix("suppressed", 0); err != nil || next != 10 {
		t.Errorf("a predicate to the end stops at %d, %v", next, err)
	}
	if _, _, err = predicate.ParsePrefix("x", 9); err == nil {
		t.Error("a predicate beyond the end was read")
	}
}

// TestTwoConditionsAsDeepAsOne checks that a predicate with two where-conditions is within
// the depth limit after it was printed as one condition.
func TestTwoConditionsAsDeepAsOne(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("not ", 17) + "(x = 1 or y = 2)"
	fits := `exists(open where ` + deep + `)`
	tree, err := predicate.Parse(fits)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = predicate.Parse(tree.String()); err != nil {
		t.Error(err)
	}
	fits = strings.Repeat("(", 16) + `exists(open where not (a = 1 and b = 2) where c = 3 or d = 4)` + strings.Repeat(")", 16)
	if tree, err = predicate.Parse(fits); err != nil {
		t.Fatal(err)
	}
	if _, err = predicate.Parse(tree.String()); err != nil {
		t.Error(err)
	}
	_, err = predicate.Parse(strings.Repeat("(", 18) + `exists(open where a = 1 or b = 2 where c = 3)` + strings.Repeat(")", 18))
	if err == nil || !strings.Contains(err.Error(), "deep") {
		t.Errorf("conditions that need one level more than there is: %v", err)
	}
}
