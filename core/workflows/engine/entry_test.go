package engine_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
)

func TestAdmits(t *testing.T) {
	t.Parallel()
	const exit = "exit \"bought\" when attr.vip = true\n"
	active, completed, exited := engine.State{Status: engine.Active}, engine.State{Status: engine.Completed}, engine.State{Status: engine.Exited}
	for name, c := range map[string]struct {
		settings string
		last     *engine.State
		vip      bool
		want     bool
	}{
		"first run":                       {"", nil, false, true},
		"first run while an exit matches": {exit, nil, true, true},
		"once":                            {"reentry once\n", &completed, false, false},
		"by default once":                 {"", &completed, false, false},
		"active":                          {"reentry on rematch\n", &active, false, false},
		"completed":                       {"reentry on rematch\n", &completed, false, true},
		"completed while an exit matches": {"reentry on rematch\n" + exit, &completed, true, true},
		"exited, per occurrence":          {"reentry per occurrence\n" + exit, &exited, false, true},
		"exited while an exit matches":    {"reentry on rematch\n" + exit, &exited, true, false},
		"exited while one matches, per occurrence": {"reentry per occurrence\n" + exit, &exited, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := begin(t, c.settings+"exit").set("vip", predicate.BoolValue(c.vip))
			if got := j.plan.Admits(c.last, j.facts); got != c.want {
				t.Errorf("Admits = %t, want %t", got, c.want)
			}
		})
	}
}

func TestAdmitsOnlyWhere(t *testing.T) {
	t.Parallel()
	plan := compileSource(t, "workflow \"W\" v1 {\nenter on activity.signup where attr.vip = true\nexit\n}")
	for _, c := range []struct {
		subject *predicate.Subject
		want    bool
	}{
		{nil, false},
		{&predicate.Subject{}, false},
		{&predicate.Subject{Attributes: map[string]predicate.Value{"vip": predicate.BoolValue(true)}}, true},
	} {
		if got := plan.Admits(nil, engine.Facts{Subject: c.subject, Now: noon}); got != c.want {
			t.Errorf("Admits for %+v = %t", c.subject, got)
		}
	}
}
