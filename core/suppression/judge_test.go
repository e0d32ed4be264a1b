package suppression

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	diff "github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/messages"
	"pgregory.net/rapid"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func bounce(kind, sub string, day float64) Adverse {
	return Adverse{
		Recipient: "Ada@Example.com", Type: messages.Bounce, Bounced: messages.BounceKind{Type: kind, SubType: sub},
		OccurredAt: noon.Add(time.Duration(day * float64(24*time.Hour))),
	}
}

func newEvent(kind messages.EventType, day float64) Adverse {
	a := bounce("", "", day)
	a.Type, a.Bounced = kind, messages.BounceKind{}
	return a
}

func transient(days ...float64) []Adverse {
	var all []Adverse
	for _, day := range days {
		all = append(all, bounce(messages.TransientBounce, "MailboxFull", day))
	}
	return all
}

func TestReasons(t *testing.T) {
	t.Parallel()
	limit := bounce(messages.TransientBounce, "ChannelLimitExceeded", 0)
	unknown := bounce(messages.UndeterminedBounce, "Undetermined", 0)
	for name, c := range map[string]struct {
		profile Profile
		history []Adverse
		want    Reason
	}{
		"nothing":                              {Standard, nil, ""},
		"a permanent bounce":                   {Strict, []Adverse{bounce(messages.PermanentBounce, "NoEmail", 0)}, PermanentBounce},
		"on the provider's list":               {Strict, []Adverse{bounce(messages.PermanentBounce, "Suppressed", 0)}, PermanentBounce},
		"on the account's own list":            {Aggressive, []Adverse{bounce(messages.PermanentBounce, "OnAccountSuppressionList", 0)}, ""},
		"a complaint about an earlier message": {Aggressive, []Adverse{{Recipient: newEvent(messages.Complaint, 0).Recipient, Type: messages.Complaint, Bounced: messages.BounceKind{SubType: "OnAccountSuppressionList"}}}, ""},
		"a complaint":                          {Strict, []Adverse{newEvent(messages.Complaint, 0)}, Complaint},
		"a reject":                             {Strict, []Adverse{newEvent(messages.Reject, 0)}, Rejected},
		"the weightiest":                       {Strict, []Adverse{newEvent(messages.Reject, 0), newEvent(messages.Complaint, 1), bounce(messages.PermanentBounce, "General", 2)}, PermanentBounce},
		"two transient":                        {Standard, transient(0, 1), ""},
		"three transient":                      {Standard, transient(0, 1, 30), RepeatedTransient},
		"three transient, a moment too far":    {Standard, transient(0, 1, 30.001), ""},
		"three of four within the window":      {Standard, transient(0, 40, 50, 69), RepeatedTransient},
		"three transient, rule off":            {Strict, transient(0, 1, 2), ""},
		"three undetermined by the standard":   {Standard, []Adverse{unknown, unknown, unknown}, ""},
		"three undetermined":                   {Aggressive, []Adverse{unknown, unknown, unknown}, Undetermined},
		"five soft":                            {Aggressive, append(transient(0, 0), unknown, unknown, limit), RepeatedTransient},
		"four soft and one beyond the limit":   {Aggressive, []Adverse{unknown, unknown, limit, limit, transient(0)[0]}, RepeatedTransient},
		"two and two and a limit are not five": {Aggressive, []Adverse{unknown, unknown, limit, transient(0)[0]}, ""},
		"what we do not know":                  {Aggressive, []Adverse{bounce("Strange", "", 0), newEvent(messages.Delivery, 0)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rules := RulesOf(c.profile)
			if got := rules.reasonFor(c.history); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestSoftBouncesAccumulate checks that transient and undetermined bounces together make an
// address undeliverable, even if neither kind alone is frequent enough.
func TestSoftBouncesAccumulate(t *testing.T) {
	t.Parallel()
	rules := RulesOf(Aggressive)
	rules.RepeatedTransient.Events, rules.Undetermined.Events = 4, 4
	unknown := bounce(messages.UndeterminedBounce, "", 3)
	soft := append(transient(0, 1, 2), unknown, unknown)
	if got := rules.reasonFor(soft); got != SoftBounceAccumulation {
		t.Errorf("five soft bounces: %q", got)
	}
	soft[0].Bounced.SubType = "ChannelLimitExceeded"
	if got := rules.reasonFor(soft); got != "" {
		t.Errorf("four soft bounces and a limit: %q", got)
	}
}

func TestExclusionAndRelisting(t *testing.T) {
	t.Parallel()
	rules := RulesOf(Standard)
	listed := rules.judge(nil, transient(0, 1, 2), false, noon)
	if listed == nil || listed.Status != Listed || listed.Email != "Ada@Example.com" || listed.EventCount != 3 {
		t.Fatalf("%+v", listed)
	}
	at := noon.Add(3 * 24 * time.Hour)
	excluded := *listed
	excluded.Status, excluded.ExcludedAt, excluded.ForgivenAt, excluded.ExclusionReason = Excluded, &at, &at, "wrote to us"

	after := rules.judge(&excluded, transient(0, 1, 2, 4, 5), false, noon)
	if !after.isSame(excluded) {
		t.Errorf("two later ones change the tombstone: %+v", after)
	}
	late := rules.judge(&excluded, transient(0, 0.5, 1, 2, 4), false, noon)
	if late.Status != Excluded || late.EventCount != 4 {
		t.Errorf("an earlier event that arrives late: %+v", late)
	}
	again := rules.judge(&excluded, transient(0, 1, 2, 4, 5, 6), false, noon)
	if again.Status != Listed || again.ExcludedAt != nil || again.ExclusionReason != "" || again.EventCount != 3 || !again.FirstSeenAt.Equal(transient(4)[0].OccurredAt) {
		t.Errorf("three later ones: %+v", again)
	}
}

func TestOtherRulesJudgeAnew(t *testing.T) {
	t.Parallel()
	standard, strict := RulesOf(Standard), RulesOf(Strict)
	history := transient(0, 1, 2)
	listed := standard.judge(nil, history, false, noon)
	out := strict.judge(listed, history, true, noon)
	if out.Status != Excluded || out.ExclusionReason != rulesChangedText || out.ExcludedAt == nil || out.ForgivenAt != nil {
		t.Errorf("stricter: %+v", out)
	}
	back := standard.judge(out, history, true, noon)
	if !back.isSame(*listed) {
		t.Errorf("back again: %+v, want %+v", back, listed)
	}
	// Without a change of rules, a listed address stays listed even if its old events are
	// purged.
	kept := standard.judge(listed, history[2:], false, noon)
	if !kept.isSame(*listed) {
		t.Errorf("events gone: %+v", kept)
	}
}

// TestChangedRulesKeepListingsOfPurgedEvents changes the rules after the purge of the
// event that listed an address. If one event suffices for the rule, the address must stay
// listed, with or without later events.
func TestChangedRulesKeepListingsOfPurgedEvents(t *testing.T) {
	t.Parallel()
	standard, strict := RulesOf(Standard), RulesOf(Strict)
	later := transient(400, 401, 402)
	for _, proof := range []Adverse{newEvent(messages.Complaint, 0), newEvent(messages.Reject, 0), bounce(messages.PermanentBounce, "NoEmail", 0)} {
		listed := standard.judge(nil, append([]Adverse{proof}, later...), false, noon)
		for name, remaining := range map[string][]Adverse{"nothing": nil, "less than one event": later[:1], "another reason": later} {
			for _, rules := range []Rules{standard, strict} {
				if got := rules.judge(listed, remaining, true, noon); got == nil || !got.isSame(*listed) {
					t.Errorf("of %s, with %s left: %+v, want %+v", listed.Reason, name, got, listed)
				}
			}
		}
	}
	// After a change of rules, a reason that needs several events no longer keeps the
	// address listed if these events were purged.
	soft := standard.judge(nil, transient(0, 1, 2, 400), false, noon)
	if got := strict.judge(soft, transient(400), true, noon); got.Status != Excluded {
		t.Errorf("%s: %+v", soft.Reason, got)
	}
}

// TestEventOrderDoesNotChangeTheResult checks that the order in which events arrive does
// not change the entry of an undeliverable address. This includes events before and after
// an exclusion by a person.
func TestEventOrderDoesNotChangeTheResult(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.SliceOfN(rapid.Custom(drawAdverse), 1, 8).Draw(t, "first")
		later := rapid.SliceOfN(rapid.Custom(drawAdverse), 0, 8).Draw(t, "later")
		rules := RulesOf(rapid.SampledFrom([]Profile{Strict, Standard, Aggressive}).Draw(t, "profile"))
		excludes := rapid.Bool().Draw(t, "excludes")
		run := func(first, later []Adverse) *Entry {
			var known *Entry
			var stored []Adverse
			arrive := func(events []Adverse) {
				for _, e := range events {
					stored = sortEvents(append(stored, e))
					known = rules.judge(known, stored, false, noon)
				}
			}
			arrive(first)
			if excludes && known != nil {
				at := noon.Add(20 * 24 * time.Hour)
				if known.LastSeenAt.After(at) {
					at = known.LastSeenAt
				}
				out := *known
				out.Status, out.ExcludedAt, out.ForgivenAt, out.ExclusionReason = Excluded, &at, &at, "asked"
				known = &out
			}
			arrive(later)
			return known
		}
		want := run(first, later)
		got := run(rapid.Permutation(first).Draw(t, "first again"), rapid.Permutation(later).Draw(t, "later again"))
		if changed := diff.Diff(want, got); changed != "" {
			t.Fatalf("another order, another entry (-want +got):\n%s", changed)
		}
	})
}

func drawAdverse(t *rapid.T) Adverse {
	a := bounce(
		rapid.SampledFrom([]string{"Permanent", "Transient", "Transient", "Transient", "Undetermined", "Other"}).Draw(t, "type"),
		rapid.SampledFrom([]string{"General", "ChannelLimitExceeded", "OnAccountSuppressionList"}).Draw(t, "sub type"),
		float64(rapid.IntRange(0, 60).Draw(t, "day")))
	a.Recipient = rapid.SampledFrom([]string{"ada@example.com", "Ada@example.com", "ADA@example.com"}).Draw(t, "recipient")
	if kind := rapid.SampledFrom([]messages.EventType{messages.Bounce, messages.Bounce, messages.Bounce, messages.Reject, messages.Complaint}).Draw(t, "kind"); kind != messages.Bounce {
		a.Type, a.Bounced.Type = kind, ""
	}
	return a
}

// sortEvents sorts events in the order in which the store returns them.
func sortEvents(events []Adverse) []Adverse {
	slices.SortStableFunc(events, func(a, b Adverse) int {
		return cmp.Or(a.OccurredAt.Compare(b.OccurredAt), strings.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
	return events
}
