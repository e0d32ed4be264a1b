package predicate_test

import (
	"math"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/predicate/predicatetest"
)

const (
	yes     = predicate.True
	no      = predicate.False
	unknown = predicate.Unknown
)

func microsBefore(d time.Duration) int64 { return now.Add(-d).UnixMicro() }

const day = 24 * time.Hour

func text(s string) predicate.Value { return predicate.StringValue(s) }

// anna is a contact with a value for every attribute, and with events up to 40 days ago.
var anna = predicate.Subject{
	Email: "anna+x@Example.com",
	Attributes: map[string]predicate.Value{
		"plan": text("pro"), "city": text("São Paulo"), "mrr": predicate.NumberValue(120.5), "vip": predicate.BoolValue(true),
		"joined": predicatetest.TimeValue(now.Add(-30 * day)), "count": predicate.NumberValue(3),
	},
	Topics: map[string]bool{"offers": true},
	Lists:  map[string]bool{"list-1": true},
	Events: []predicate.Occurrence{
		{Event: predicate.Event{Kind: predicate.Open}, At: microsBefore(10 * day), Properties: map[string]predicate.Value{"subject": text("Hello")}},
		{Event: predicate.Event{Kind: predicate.Open}, At: microsBefore(day), Properties: map[string]predicate.Value{}},
		{Event: predicate.Event{Kind: predicate.Bounce}, At: microsBefore(40 * day), Properties: map[string]predicate.Value{"type": text("Permanent")}},
		purchase(10*day, predicate.NumberValue(10), true), purchase(day, predicate.NumberValue(2.5), false),
		purchase(40*day, text("a former type"), false), purchase(5*day, predicate.NumberValue(math.NaN()), false),
	},
}

// bareContact is a contact with an address and no other value.
var bareContact = predicate.Subject{Email: "b@example.com"}

func purchase(at time.Duration, amount predicate.Value, gift bool) predicate.Occurrence {
	return predicate.Occurrence{
		Event: predicate.Event{Kind: predicate.ActivityEvent, Activity: "purchase"}, At: microsBefore(at),
		Properties: map[string]predicate.Value{"amount": amount, "gift": predicate.BoolValue(gift)},
	}
}

// outcomes has predicates for each rule of the language, with the expected results for
// anna, who has all attributes, and for bareContact, who has none.
var outcomes = []struct {
	source            string
	anna, bareContact predicate.Truth
}{
	// Strings, and enums as well, are compared byte by byte.
	{`attr.plan = "pro"`, yes, unknown},
	{`attr.plan = "Pro"`, no, unknown},
	{`attr.plan = "never registered"`, no, unknown},
	{`attr.plan != "free"`, yes, unknown},
	{`attr.plan in ["free", "pro"]`, yes, unknown},
	{`attr.plan in ["free"]`, no, unknown},
	{`attr.city = "Sa` + "\u0303" + `o Paulo"`, no, unknown},
	{`attr.city starts with "São"`, yes, unknown},
	{`attr.city starts with "são"`, no, unknown},
	{`attr.city ends with "Paulo"`, yes, unknown},
	{`attr.city contains "%"`, no, unknown},
	{`attr.city contains "o P"`, yes, unknown},
	{`attr.email ends with "@Example.com"`, yes, no},
	{`attr.email = "b@example.com"`, no, yes},
	// Numbers, bools and datetimes.
	{`attr.mrr = 120.5`, yes, unknown},
	{`attr.mrr != 120.5`, no, unknown},
	{`attr.mrr < 120.5`, no, unknown},
	{`attr.mrr <= 120.5`, yes, unknown},
	{`attr.mrr > -1`, yes, unknown},
	{`attr.mrr >= 121`, no, unknown},
	{`attr.mrr in [1, 120.50]`, yes, unknown},
	{`attr.vip = true`, yes, unknown},
	{`attr.vip != true`, no, unknown},
	{`attr.vip in [false]`, no, unknown},
	{`attr.joined = "2026-05-16T14:00:00+02:00"`, yes, unknown},
	{`attr.joined = "2026-05-16T12:00:00.000001Z"`, no, unknown},
	{`attr.joined = "2026-05-16T12:00:00.0000009Z"`, yes, unknown}, // rounded down to microseconds
	{`attr.joined > 2026-05-16`, yes, unknown},
	{`attr.joined in [2026-05-16, "2026-05-16T12:00:00Z"]`, yes, unknown},
	{`attr.joined = now - 30d`, yes, unknown},
	{`attr.joined = now - 1mo`, yes, unknown},
	{`attr.joined < now + 1s`, yes, unknown},
	{`attr.joined > now`, no, unknown},
	// The name of an attribute may be a reserved word.
	{`attr.count = 3`, yes, unknown},
	// Presence is never unknown.
	{`has attr.plan`, yes, no},
	{`attr.plan is known`, yes, no},
	{`attr.plan is unknown`, no, yes},
	{`attr.email is known`, yes, yes},
	// Ages.
	{`now - attr.joined = 30d`, yes, unknown},
	{`now - attr.joined > 30d`, no, unknown},
	{`now - attr.joined >= 4w`, yes, unknown},
	{`now - attr.joined < 1mo`, no, unknown},
	{`now - attr.joined between 30d and 1y`, yes, unknown},
	{`now - attr.joined between 1d and 30d`, yes, unknown},
	{`now - attr.joined between 1d and 29.99d`, no, unknown},
	// Three values.
	{`not attr.plan = "pro"`, no, unknown},
	{`not attr.plan = "free"`, yes, unknown},
	{`attr.plan = "pro" or attr.plan is unknown`, yes, yes},
	{`attr.plan = "pro" and suppressed`, no, no},
	{`attr.plan = "pro" and not suppressed`, yes, unknown},
	{`attr.plan = "free" or suppressed`, no, unknown},
	{`not (attr.plan = "free" or attr.mrr < 1)`, yes, unknown},
	{`suppressed or attr.vip = true and attr.mrr < 1`, no, unknown},
	{`(not suppressed or attr.vip = true) and attr.mrr < 1`, no, unknown},
	// Events.
	{`count(open) = 2`, yes, no},
	{`count(open) = 0`, no, yes},
	{`count(open) >= 0.5`, yes, no},
	{`not count(click) > 0`, yes, yes},
	{`exists(open)`, yes, no},
	{`exists(open where subject = "Hello")`, yes, no},
	// one of anna's open events has no subject, so the where-condition is Unknown for it
	{`count(open where subject != "Hello") = 0`, yes, yes},
	{`count(open where not subject = "Hello") = 0`, yes, yes},
	{`count(open where subject is unknown) = 1`, yes, no},
	{`exists(bounce where type = "Permanent" and sub_type = "General")`, no, no},
	{`exists(bounce where type = "Permanent" or sub_type = "General")`, yes, no},
	{`count(open within 10d) = 2`, yes, no}, // the window includes its edge
	{`count(open within 9.999d) = 1`, yes, no},
	{`count(open between 2026-06-05 and 2026-06-05) = 1`, yes, no}, // the whole day
	{`count(open between 2026-06-05 and "2026-06-05T12:00:00Z") = 1`, yes, no},
	{`count(open between 2026-06-05 and "2026-06-05T11:59:59.999999Z") = 0`, yes, yes},
	{`count(open between "2026-06-05T12:00:00.000001Z" and 2026-06-06) = 0`, yes, yes},
	{`count(open within 5d between 2026-06-05 and 2026-06-05) = 0`, yes, yes},
	{`count(activity.purchase) = 4`, yes, no},
	{`count(activity.purchase where gift = true where amount > 5) = 1`, yes, no},
	{`count(activity.Purchase) = 0`, yes, yes},
	{`sum(amount of activity.purchase) = 12.5`, yes, unknown},
	{`avg(amount of activity.purchase) = 6.25`, yes, unknown},
	{`min(amount of activity.purchase) = 2.5`, yes, unknown},
	{`max(amount of activity.purchase) = 10`, yes, unknown},
	{`max(amount of activity.purchase where gift = false) = 2.5`, yes, unknown},
	{`sum(amount of activity.purchase within 1h) >= 0`, unknown, unknown},
	// the only purchase in that window has no valid amount
	{`sum(amount of activity.purchase between 2026-01-01 and 2026-05-31) >= 0`, unknown, unknown},
	{`last(open) = now - 1d`, yes, unknown},
	{`last(open) < now - 1d`, no, unknown},
	{`first(open) <= 2026-06-06`, yes, unknown},
	{`first(open) < "2026-06-05T12:00:00Z"`, no, unknown},
	{`last(click) < now`, unknown, unknown},
	{`not last(click) < now`, unknown, unknown},
	// Tests of consent and membership are never Unknown. Contacts are subscribed to the
	// topic news by default, and not to the topic offers.
	{`subscribed to "news"`, yes, yes},
	{`subscribed to "offers"`, yes, no},
	{`opted out of "news"`, no, no},
	{`opted out of "offers"`, no, yes},
	{`unsubscribed from all`, no, no},
	{`suppressed`, no, no},
	{`in list "vip"`, yes, no},
	{`not in list "beta"`, yes, yes},
	{`in segment "engaged"`, no, no},
}

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, row := range outcomes {
		checked := compile(t, row.source)
		for name, want := range map[string]predicate.Truth{"anna": row.anna, "bareContact": row.bareContact} {
			subject := anna
			if name == "bareContact" {
				subject = bareContact
			}
			if got := checked.Match(subject, now); got != want {
				t.Errorf("%s: %s is %s, want %s", row.source, name, got, want)
			}
		}
	}
}

func TestTopicsOfContactsWithAGlobalOptOut(t *testing.T) {
	t.Parallel()
	out := predicate.Subject{Topics: map[string]bool{"news": true, "offers": false}, UnsubscribedFromAll: true, Suppressed: true}
	for source, want := range map[string]predicate.Truth{
		`subscribed to "news"`: no, `opted out of "news"`: no, `opted out of "offers"`: yes, `unsubscribed from all`: yes, `suppressed`: yes,
	} {
		if got := compile(t, source).Match(out, now); got != want {
			t.Errorf("%s is %s, want %s", source, got, want)
		}
	}
}

// TestConsentOfStubs checks that a stub, a contact that is known only from activities, is
// neither subscribed nor opted out.
func TestConsentOfStubs(t *testing.T) {
	t.Parallel()
	stub := predicate.Subject{Stub: true, Topics: map[string]bool{"offers": true}}
	for source, want := range map[string]predicate.Truth{
		`subscribed to "news"`: no, `subscribed to "offers"`: no, `opted out of "news"`: no, `unsubscribed from all`: no,
	} {
		if got := compile(t, source).Match(stub, now); got != want {
			t.Errorf("%s is %s, want %s", source, got, want)
		}
	}
}

// TestValuesOfOtherTypesAreAbsent checks that a value counts as absent if its type is not
// the registered one or if it is a number beyond MaxNumber.
func TestValuesOfOtherTypesAreAbsent(t *testing.T) {
	t.Parallel()
	for _, value := range []predicate.Value{text("5"), predicate.BoolValue(true), predicate.NumberValue(math.Inf(1)), predicate.NumberValue(-2e100), predicate.NumberValue(math.NaN()), {}} {
		subject := predicate.Subject{Attributes: map[string]predicate.Value{"mrr": value}}
		if got := compile(t, `attr.mrr is unknown`).Match(subject, now); got != yes {
			t.Errorf("%v is known as a number", value)
		}
		if got := compile(t, `attr.mrr = 5 or attr.mrr in [5]`).Match(subject, now); got != unknown {
			t.Errorf("%v compared with 5 is %s", value, got)
		}
	}
	empty := predicate.Subject{Attributes: map[string]predicate.Value{"plan": text("")}}
	if got := compile(t, `has attr.plan and attr.plan = ""`).Match(empty, now); got != yes {
		t.Errorf("an empty string is absent: %s", got)
	}
}

// TestEventsAhead checks that an event in the future is outside of every "within" window,
// but counts in tests without a window.
func TestEventsAhead(t *testing.T) {
	t.Parallel()
	subject := predicate.Subject{
		Attributes: map[string]predicate.Value{"joined": predicatetest.TimeValue(now.Add(day))},
		Events:     []predicate.Occurrence{{Event: predicate.Event{Kind: predicate.Open}, At: now.UnixMicro() + 1}},
	}
	for source, want := range map[string]predicate.Truth{
		`exists(open)`: yes, `exists(open within 1y)`: no, `last(open) > now`: yes, `now - attr.joined < 0s`: yes, `attr.joined = now + 1d`: yes,
	} {
		if got := compile(t, source).Match(subject, now); got != want {
			t.Errorf("%s is %s, want %s", source, got, want)
		}
	}
	subject.Events[0].At = now.UnixMicro()
	if got := compile(t, `exists(open within 0s)`).Match(subject, now); got != yes {
		t.Errorf("an event of this very moment is inside no window: %s", got)
	}
}

func TestTruth(t *testing.T) {
	t.Parallel()
	for truth, word := range map[predicate.Truth]string{yes: "true", no: "false", unknown: "unknown", 5: "no truth"} {
		if truth.String() != word {
			t.Errorf("%d is %q", truth, truth)
		}
	}
	if yes.Not() != no || no.Not() != yes || unknown.Not() != unknown {
		t.Error("not does not turn true and false and leave unknown")
	}
}
