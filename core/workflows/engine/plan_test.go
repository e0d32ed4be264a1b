package engine_test

import (
	"reflect"
	"testing"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

func TestPlanReferences(t *testing.T) {
	t.Parallel()
	plan := compileSource(t, `workflow "W" v1 {
		enter on 3 days before attr.renewal where attr.city = "Lyon"
		exit "left" when unsubscribed from all
		exit "vip" when in list "vip"
		wait up to 1 day until exists(open)
		wait until attr.renewal
		if attr.visits > 3 {
			repeat up to 2 every 1 day until exists(activity.purchase) {
				set attr.plan = "pro"
			}
		} else if attr.vip = true {
			exit
		}
		repeat up to 2 every 1 day {
		}
	}`)
	want := predicate.References{
		Attributes: []string{"city", "renewal", "timezone", "vip", "visits"}, Consent: true, Lists: []string{"list-1"},
		Events: []predicate.Event{{Kind: predicate.Open}, {Kind: predicate.ActivityEvent, Activity: "purchase"}},
	}
	if got := plan.References(); !reflect.DeepEqual(got, want) {
		t.Errorf("References returns %+v", got)
	}
	if n := len(plan.Conditions()); n != 7 {
		t.Errorf("there are %d conditions, want 7", n)
	}
}

func TestPlanSteps(t *testing.T) {
	t.Parallel()
	plan := compile(t, "if suppressed {\nexit\n}")
	if !plan.Has("0.then.0") || plan.Has("0.else.0") || plan.Has("") {
		t.Error("Has does not know which steps there are")
	}
	if _, ok := plan.Step("0.then.0").(*language.Leave); !ok || plan.Step("1") != nil {
		t.Errorf("Step returns %T and %v", plan.Step("0.then.0"), plan.Step("1"))
	}
}

func TestWaitsForChange(t *testing.T) {
	t.Parallel()
	for statements, want := range map[string]bool{
		"wait 1 day":            false,
		"wait until 2027-01-01": false,
		"repeat up to 2 every 1 day until suppressed {\n}":        false,
		"exit \"out\" when suppressed\nwait 1 day":                false,
		"wait until attr.renewal":                                 true,
		"if suppressed {\nwait up to 1 day until exists(open)\n}": true,
	} {
		if got := compile(t, statements).WaitsForChange(); got != want {
			t.Errorf("%q: WaitsForChange is %t", statements, got)
		}
	}
}
