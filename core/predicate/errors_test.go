package predicate_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/predicate"
)

// faulty has invalid predicates: most have one fault, some have several faults that Check
// finds.
var faulty = []string{
	// Words.
	``, `   # nothing`, `attr.plan = "pro" und attr.vip = true`, `attr.plan = "pro" AND attr.vip = true`, `attr.plan = "pro" attr.vip = true`,
	`NOT suppressed`, `cuont(open) > 1`, `plan = "pro"`, `open > 3`, `activity.purchase > 3`, `(attr.vip = true`, "(\n  attr.vip = true\n", `attr.vip = true)`,
	`"pro" = attr.plan`, `atr.plan = "pro"`, `contact.plan = "pro"`, `attr. plan = "pro"`, `attr.`,
	// Operators and values.
	`attr.plan == "pro"`, `attr.plan <> "pro"`, `attr.vip = true && suppressed`, `attr.vip = true || suppressed`, `!suppressed`, `attr.mrr => 5`,
	`attr.plan = 'pro'`, `attr.plan = pro`, `attr.plan = "pro`, "attr.plan = \"pro\n\"", `attr.plan = "a\u0041"`, "attr.plan = \"a\x01\"",
	`attr.plan like "pro%"`, `attr.plan start with "p"`, `attr.plan starts "p"`, `attr.plan starts with p`, `attr.plan is null`, `attr.plan is knwon`,
	`attr.plan in "pro"`, `attr.plan in ("pro")`, `attr.plan in []`, `attr.plan in ["pro" "team"]`, `attr.plan in ["pro",]`, `attr.joined in [now]`,
	`attr.mrr > `, `attr.mrr > ten`, `attr.mrr > 1e999`, `attr.mrr > -`, `attr.mrr > 1.`, `has plan`, `has "plan"`, `attr.city = "ü` + "\xff" + `"`, `attr.city ~ "x"`,
	`attr.plan is not null`, `attr.mrr between 1 and 5`, `attr.city includes "x"`, `exists(click where url like "x")`, `last(open) > 30d`,
	`count(open) > 5 within 30d`, `exists(open) where subject = "a"`, `attr.joined within 30d`, `now - last(open) > 30d`, `country = "AT"`,
	`opened in last 30d`, `clicked`, `not received within 5d`,
	// Times.
	`attr.joined > 2026-02-30`, `attr.joined > 2026-1-5`, `attr.joined > 2026-01-05T10:00:00Z`, `attr.joined > "soon"`, `now - attr.joined > 14`, `now - attr.joined > 14 days`,
	`now - attr.joined > 14days`, `now - attr.joined > 2months`, `now - attr.joined > 5M`, `now - attr.joined > 5q`, `now - attr.joined > 201y`, `now - attr.joined between 5d`,
	`now - attr.joined between 5d and 1d`, `now + attr.joined > 5d`, `now - 5d > attr.joined`, `last(open) < 5d`, `last(open) < "soon"`,
	// Events.
	`count(opens) > 1`, `count(purchase) > 1`, `count(open)`, `count open > 1`, `count(open > 1`, `count(open within) > 1`, `count(open within 5d within 6d) > 1`,
	`count(open between 2026-01-02 and 2026-01-01) > 1`, `count(open between 2026-01-01 and 2026-01-02 between 2026-01-01 and 2026-01-02) > 1`, `count(open wher url = "a") > 1`, `sum(open) > 1`, `sum(of open) > 1`, `sum(amount from activity.purchase) > 1`,
	`exists(open) > 1`, `exists(activity."")`, `exists(activity."Order paid)`, `exists(activity.purchase where attr.vip = true)`, `exists(activity.purchase where count > 1)`,
	`exists(open where last(open) > now)`, `exists(open where url)`, `exists(open where )`, `count(open) > "1"`,
	// Consent and membership.
	`subscribed "news"`, `subscribed to news`, `opted out "news"`, `unsubscribed`, `unsubscribed from news`, `in lists "vip"`, `in list vip`, `in "vip"`, `suppresed`,
	// Names.
	`attr.plna = "pro"`, `attr.nothing_like_it = "pro"`, `attr.Plan = "pro"`, `attr.emial = "a"`, `subscribed to "nwes"`, `opted out of "nothing"`, `in list "vpi"`, `in segment "vip"`,
	`exists(open where url = "a")`, `exists(click where urll = "a")`, `sum(amuont of activity.purchase) > 1`, `exists(activity.unheard where x = 1)`, `exists(activity."Order paid" where property."Order ib" = "a")`,
	`exists(activity.purchase where path = "/")`, `exists(activity.site_visit where pth = "/")`,
	// Types.
	`attr.plan = 5`, `attr.plan = true`, `attr.plan > "pro"`, `attr.city >= "a"`, `attr.vip > true`, `attr.vip = "true"`, `attr.vip = 1`, `attr.mrr = "100"`, `attr.mrr = "lots"`, `attr.mrr = 2026-01-01`,
	`attr.joined = 5`, `attr.joined = "yesterday"`, `attr.joined = true`, `attr.plan = 2026-01-01`, `attr.plan = now`, `attr.mrr in [1, "2", 3]`, `attr.mrr contains "1"`, `attr.joined starts with "2026"`,
	`attr.city contains ""`, `now - attr.plan > 5d`, `now - attr.email > 5d`, `sum(sku of activity.purchase) > 5`, `exists(activity.purchase where gift = "yes")`, `exists(activity.purchase where gift > true)`,
	`exists(delivery where processing_ms = "fast")`, `exists(bounce where type = 1)`,
	// Several at once.
	"attr.plna = \"pro\" and\n  attr.mrr = \"5\" and\n\tin list \"vpi\" and count(click where ulr = \"é\") > 0 and attr.é",
	"attr.plna = \"pro\" and\n  attr.mrr = \"5\" and # é\n\tin list \"vpi\" and count(click where ulr = \"é\") > 0 and attr.vip contains \"a\"",
}

// TestGoldenErrorMessages compares the error message for each invalid predicate with a
// golden file.
func TestGoldenErrorMessages(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, source := range faulty {
		_, err := predicate.Compile(source, schema)
		if err == nil {
			t.Errorf("%q has no fault", source)
			continue
		}
		b.WriteString(strings.ReplaceAll(source, "\xff", `\xff`) + "\n")
		for line := range strings.Lines(err.Error()) {
			b.WriteString("    " + strings.TrimSuffix(line, "\n") + "\n")
		}
	}
	compareGolden(t, "errors.golden", b.String())
}

func TestErrorsAreOneByOne(t *testing.T) {
	t.Parallel()
	source := strings.TrimSuffix(strings.Repeat("attr.unknown = 1 or ", 30), " or ")
	_, err := predicate.Compile(source, schema)
	faults, is := errors.AsType[predicate.Errors](err)
	if !is || len(faults) != predicate.MaxFaults {
		t.Fatalf("30 faults give %v", err)
	}
	for i, fault := range faults {
		if fault.Line != 1 || fault.Column != 1+20*i {
			t.Errorf("fault %d is at line %d, column %d", i, fault.Line, fault.Column)
		}
	}
	if one, is := errors.AsType[*predicate.Error](err); !is || one != faults[0] {
		t.Errorf("the first fault is not found in the whole: %v", one)
	}
}

func TestSuggestionsRepeatNoLongWord(t *testing.T) {
	t.Parallel()
	for word, suggested := range map[string]string{
		strings.Repeat("a", 30): "attr." + strings.Repeat("a", 30),
		strings.Repeat("a", 31): "",
	} {
		for _, source := range []string{word + ` = "x"`, "has " + word} {
			_, err := predicate.Compile(source, predicate.Schema{})
			fault, ok := errors.AsType[*predicate.Error](err)
			if !ok || fault.Suggestion != suggested {
				t.Errorf("%q: %v, want the suggestion %q", source, err, suggested)
			}
		}
	}
}

// TestArchivedNamesSayWhy checks that a fault distinguishes archived topics, lists and
// segments from those that do not exist, and says what to do about each kind.
func TestArchivedNamesSayWhy(t *testing.T) {
	t.Parallel()
	partly := schema
	partly.Archived = map[predicate.Archived]bool{{Kind: predicate.TopicSet, Key: "gone"}: true, {Kind: predicate.ListSet, Key: "vipp"}: true, {Kind: predicate.SegmentSet, Key: "gone"}: true}
	for source, want := range map[string][2]string{
		`opted out of "gone"`: {`the topic "gone" is archived; define it in its repository again, or name another topic`, "news offers"},
		`in list "vipp"`:      {`the list "vipp" is archived; define it in its repository again, or name another list`, "beta vip"},
		`in segment "gone"`:   {`the segment "gone" is archived; restore it on its page in the dashboard, or name another segment`, "engaged"},
		`in list "gone"`:      {`there is no list "gone"`, "beta vip"},
	} {
		_, err := predicate.Compile(source, partly)
		fault, ok := errors.AsType[*predicate.Error](err)
		if !ok || fault.Message != want[0] || strings.Join(fault.Known, " ") != want[1] || fault.Suggestion != "" {
			t.Errorf("%s: %+v", source, fault)
		}
	}
}

// TestNamesThatAreKnown checks that the fault for an unknown name lists the existing names
// if none of them is similar.
func TestNamesThatAreKnown(t *testing.T) {
	t.Parallel()
	for source, known := range map[string]string{
		`attr.nothing_like_it = "pro"`: "city count joined mrr plan vip email", `attr.plna = "pro"`: "",
		`subscribed to "weather"`: "news offers", `subscribed to "nwes"`: "", `in list "nothing"`: "beta vip", `in segment "nothing"`: "engaged",
	} {
		_, err := predicate.Compile(source, schema)
		fault, ok := errors.AsType[*predicate.Error](err)
		if !ok || strings.Join(fault.Known, " ") != known || (fault.Known == nil) != (fault.Suggestion != "") {
			t.Errorf("%s: %+v", source, fault)
		}
	}
	_, err := predicate.Compile(`in list "vip"`, predicate.Schema{})
	if fault, ok := errors.AsType[*predicate.Error](err); !ok || fault.Known == nil || len(fault.Known) != 0 {
		t.Errorf("%+v", err)
	}
}
