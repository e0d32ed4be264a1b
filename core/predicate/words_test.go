package predicate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/predicate"
)

// spoken has valid predicates of every form.
var spoken = []string{
	`attr.plan = "pro" and attr.mrr > 100 and count(activity.purchase within 30d) >= 1`,
	`attr.plan != "free"`, `attr.plan in ["pro", "team"] or attr.city starts with "A"`, `not attr.vip = true`,
	`has attr.plan and attr.plan != "free"`, `attr.plan != "free" or attr.plan is unknown`, `attr.plan is known`,
	`has attr.plan or attr.plan != "free"`, `attr.plan is unknown and attr.plan != "free"`, // no guards
	`not (attr.plan = "free" or attr.plan is unknown)`, `not (has attr.plan and attr.plan = "free")`, `not attr.plan is known`,
	`not attr.plan in ["pro"]`, `not attr.city contains "x"`, `attr.email != "a"`, `not not attr.vip = true`,
	`now - attr.joined > 14d`, `has attr.joined and now - attr.joined <= 1d`, `now - attr.joined between 1w and 2mo`, `now - attr.joined = 1y or now - attr.joined != 1h`,
	`attr.joined < now + 7d`, `attr.joined >= 2026-01-31 and attr.joined <= "2026-01-31T09:00:00Z"`, `attr.joined > now or attr.joined = now - 90s`,
	`exists(open where subject contains "sale" and not template = "x" within 7d)`, `count(open) = 0`, `not exists(click where url ends with ".pdf" or sender_domain is unknown)`,
	`count(delivery where processing_ms > 1000 between 2026-01-01 and 2026-01-31) > 0`, `exists(delivery_delay)`, `exists(activity."Order paid" where property."Order id" in ["a", "b"])`,
	`last(open) < now - 90d`, `exists(open) and last(open) < now - 90d`, `last(open) < now - 90d or not exists(open)`, `last(open) < now - 90d or count(open) = 0`, `count(open) >= 1 and first(open) > 2026-01-01`,
	`last(open within 30d) > 2026-01-01 and exists(open)`, `last(open) > 2026-01-01 and exists(open within 5d)`, `last(open within 5d) > now - 1d and exists(open within 5d)`,
	`sum(amount of activity.purchase) > 5`, `not avg(amount of activity.purchase) > 5`, `min(amount of activity.purchase) != 5`, `max(amount of activity.purchase) <= 5`,
	`subscribed to "news" and not suppressed`, `opted out of "offers"`, `subscribed to "offers" or opted out of "news"`, `not unsubscribed from all`,
	`in list "vip" and not in segment "engaged"`, `attr.plan = "por"`, `exists(activity.purchsae)`, `exists(activity.purchase where due < now)`,
	`count(open) = 1`, `not exists(open between 2026-01-01 and "2026-01-31T09:00:00.5Z")`, `attr.mrr in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]`,
	`not (attr.joined > now or now - attr.joined between 0s and 1.5mo or count(open) > 2 or in list "vip" or suppressed)`, `not exists(open) and first(open) < now`,
	`(attr.vip = true or suppressed) and (attr.mrr > 1 or attr.mrr is unknown)`,
}

// TestGoldenWords compares the evaluation class, explanation and warnings of each predicate
// with a golden file.
func TestGoldenWords(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, source := range spoken {
		checked, err := predicate.Compile(source, schema)
		if err != nil {
			fmt.Fprintf(&b, "%s\n    %v\n", source, err)
			continue
		}
		fmt.Fprintf(&b, "%s\n    %s: %s\n", source, checked.EvalClass(), checked.Explain())
		for _, w := range checked.Lint() {
			fmt.Fprintf(&b, "    line %d, column %d: %s: %s [%s]\n", w.Line, w.Column, w.Kind, w.Message, w.Suggestion)
		}
	}
	compareGolden(t, "words.golden", b.String())
}

func TestEvalClass(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]predicate.EvalClass{
		`attr.plan = "pro" and not attr.vip = true`: predicate.Incremental,
		`count(open) > 1`: predicate.Incremental,
		`exists(open between 2026-01-01 and 2026-01-02)`:            predicate.Incremental,
		`subscribed to "news" or in list "vip" or suppressed`:       predicate.Incremental,
		`attr.joined > 2026-01-01`:                                  predicate.Incremental,
		`attr.joined > now`:                                         predicate.Sweep,
		`now - attr.joined > 5d`:                                    predicate.Sweep,
		`exists(open within 5d) and not last(click) < 2026-01-01`:   predicate.Sweep,
		`first(open) > now - 5d`:                                    predicate.Sweep,
		`exists(activity.purchase where due < now and gift = true)`: predicate.Sweep,
		`exists(open within 5d where subject = "x")`:                predicate.Sweep,
		`attr.plan = "pro" and exists(open within 5d)`:              predicate.Both,
		`exists(open) and exists(open within 5d)`:                   predicate.Both,
		`now - attr.joined > 5d and attr.joined > 2026-01-01`:       predicate.Both,
		`last(open) > now - 5d or unsubscribed from all`:            predicate.Both,
	} {
		if got := compile(t, source).EvalClass(); got != want {
			t.Errorf("%s is %s, want %s", source, got, want)
		}
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	got := compile(t, `attr.plan = "a" and has attr.mrr and now - attr.joined > 1d and attr.email contains "x" and attr.plan in ["b"] and attr.city starts with "c"
		and subscribed to "news" and opted out of "offers" and suppressed and in list "vip" and in segment "engaged"
		and exists(activity.site_visit where path = "/" and scroll > 5) and sum(amount of activity.purchase where not sku is known) > 1 and exists(click where url = "x") and exists(click)`).References()
	want := predicate.References{
		Attributes: []string{"city", "joined", "mrr", "plan"}, Email: true,
		Topics: []string{"news", "offers"}, Consent: true, Suppression: true, Lists: []string{"list-1"}, Segments: []string{"segment-1"},
		Events:     []predicate.Event{{Kind: predicate.Click}, {Kind: predicate.ActivityEvent, Activity: "purchase"}, {Kind: predicate.ActivityEvent, Activity: "site_visit"}},
		Properties: []predicate.ActivityProperty{{Activity: "purchase", Property: "amount"}, {Activity: "purchase", Property: "sku"}, {Activity: "site_visit", Property: "scroll"}},
	}
	if difference := cmp.Diff(want, got); difference != "" {
		t.Error(difference)
	}
	if r := compile(t, `unsubscribed from all`).References(); !r.Consent || r.Suppression || len(r.Topics) > 0 {
		t.Errorf("the opt-out from all refers to %+v", r)
	}
}

// TestReservedWords checks that a reserved word is refused as a bare property name and
// accepted after "property.".
func TestReservedWords(t *testing.T) {
	t.Parallel()
	words := strings.Fields(`all and avg between contains count ends exists first from has in is known last list max min not now of opted or out
		segment starts subscribed sum suppressed to true false unknown unsubscribed where within with`)
	for _, word := range words {
		if _, err := predicate.Parse(`exists(activity.x where ` + word + ` = "a")`); err == nil {
			t.Errorf("%s is taken for a property", word)
		}
		for _, source := range []string{`exists(activity.x where property.` + word + ` = "a")`, `exists(activity.` + word + `)`, `attr.` + word + ` = "a"`} {
			if tree, err := predicate.Parse(source); err != nil || tree.String() != source {
				t.Errorf("%s: %v, printed as %v", source, err, tree)
			}
		}
		for _, spelled := range []string{strings.ToUpper(word), strings.Title(word)} { //nolint:staticcheck // ASCII words
			if _, err := predicate.Parse(`exists(activity.x where ` + spelled + ` = "a")`); err != nil {
				t.Errorf("%s is taken for a keyword: %v", spelled, err)
			}
		}
	}
	for _, name := range []string{"type", "url", "subject", "attr", "activity", "property", "send", "open", "template"} {
		if _, err := predicate.Parse(`exists(activity.x where ` + name + ` = "a")`); err != nil {
			t.Errorf("%s is not taken for a property: %v", name, err)
		}
	}
}

// TestPropertyNames checks the names of the properties that events of each kind have.
func TestPropertyNames(t *testing.T) {
	t.Parallel()
	message := []string{"sender_domain", "subject", "template"}
	for event, more := range map[predicate.Event][]string{
		{Kind: predicate.Send}: nil, {Kind: predicate.Open}: nil, {Kind: predicate.Complaint}: nil, {Kind: predicate.Reject}: nil, {Kind: predicate.DeliveryDelay}: nil,
		{Kind: predicate.Click}: {"url"}, {Kind: predicate.Bounce}: {"type", "sub_type"}, {Kind: predicate.Delivery}: {"processing_ms"},
	} {
		want := append(slices.Clone(message), more...)
		slices.Sort(want)
		if got := schema.PropertyNames(event); !slices.Equal(got, want) {
			t.Errorf("%s has %v, want %v", event.Kind, got, want)
		}
	}
	site := []string{"path", "referrer", "title", "utm_campaign", "utm_medium", "utm_source"}
	if got := schema.PropertyNames(predicate.Event{Kind: predicate.ActivityEvent, Activity: "site_anything_1"}); !slices.Equal(got, site) {
		t.Errorf("a site activity has %v", got)
	}
	for name, is := range map[string]bool{
		"site_a": true, "site_" + strings.Repeat("a", 60): true, "site_": false, "site_" + strings.Repeat("a", 61): false, "site_A": false, "sites": false, "site_a-b": false,
	} {
		if predicate.IsSiteActivity(name) != is {
			t.Errorf("IsSiteActivity(%q) = %t", name, !is)
		}
	}
}
