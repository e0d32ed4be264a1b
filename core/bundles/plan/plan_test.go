package plan_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/bundles/plan"
	"pgregory.net/rapid"
)

// all declares every kind.
func all() map[definitions.Kind]bool {
	declared := map[definitions.Kind]bool{}
	for _, kind := range definitions.Kinds() {
		declared[kind] = true
	}
	return declared
}

// lines returns the objects of a plan, one on a line.
func lines(p *plan.Plan) (all []string) {
	for _, o := range p.Objects {
		line := fmt.Sprintf("%s %s %s", o.Action, o.Kind, o.Key)
		for _, d := range o.Diagnostics {
			line += " " + d.Code
		}
		all = append(all, line)
	}
	return all
}

func TestPlan(t *testing.T) {
	t.Parallel()
	held := &definitions.Set{
		Attributes: []definitions.Attribute{{Name: "plan", Type: "string"}, {Name: "unused", Type: "string"}, {Name: "used", Type: "string"}},
		Lists:      []definitions.List{{Key: "a", Name: "A"}, {Key: "old", Name: "Old"}},
		Segments:   []definitions.Segment{{Key: "git", Name: "Git", Predicate: "attr.used = 1"}, {Key: "old", Name: "Old", Predicate: "attr.unused = 1"}},
		Templates:  []definitions.Template{{Key: "old", HTML: "old"}, {Key: "welcome", HTML: "Hello", Tags: []string{}}},
		Workflows:  []definitions.Workflow{{Key: "w", Source: "1"}},
	}
	wanted := &definitions.Set{
		Attributes: []definitions.Attribute{{Name: "new", Type: "number"}, {Name: "plan", Type: "enum", EnumValues: []string{"free"}}},
		Lists:      []definitions.List{{Key: "a", Name: "A"}},
		Segments:   []definitions.Segment{{Key: "git", Name: "Git", Predicate: "attr.used = 1"}},
		Templates:  []definitions.Template{{Key: "welcome", HTML: "Hello"}},
		Declared: map[definitions.Kind]bool{
			definitions.KindAttribute: true, definitions.KindList: true, definitions.KindSegment: true, definitions.KindTemplate: true,
		},
	}
	q := plan.Question{
		Held: held, Wanted: wanted, Paths: map[definitions.Ref]string{{Kind: definitions.KindTemplate, Key: "welcome"}: "templates/welcome.hbs"},
		UsedBy: func(segments []definitions.Segment, attribute string) (users []string) {
			for _, s := range segments {
				if strings.Contains(s.Predicate, "attr."+attribute+" ") {
					users = append(users, s.Key)
				}
			}
			return users
		},
	}
	without := []string{
		"create attribute new", "update attribute plan", "unchanged list a", "unchanged segment git", "unchanged template welcome",
	}
	got := plan.Make(q)
	if diff := cmp.Diff(without, lines(got)); diff != "" || !got.Applicable || got.Objects[4].Path != "templates/welcome.hbs" {
		t.Errorf("%+v (-want +got):\n%s", got, diff)
	}
	q.Prune = true
	pruned := []string{
		"create attribute new", "update attribute plan", "delete attribute unused", "skip attribute used referenced_by", "unchanged list a", "archive list old",
		"unchanged segment git", "archive segment old", "unchanged template welcome",
	}
	if diff := cmp.Diff(pruned, lines(plan.Make(q))); diff != "" {
		t.Errorf("pruned (-want +got):\n%s", diff)
	}
	q.FromGit = map[definitions.Ref]bool{
		{Kind: definitions.KindAttribute, Key: "plan"}: true, {Kind: definitions.KindList, Key: "a"}: true, {Kind: definitions.KindSegment, Key: "old"}: true,
	}
	q.Faults = map[definitions.Ref][]definitions.Diagnostic{
		{Kind: definitions.KindTemplate, Key: "welcome"}: {{Severity: definitions.Warning, Code: "w"}}, {Kind: definitions.KindTemplate, Key: "broken"}: {{Severity: definitions.Error, Code: "e"}},
	}
	q.Paths[definitions.Ref{Kind: definitions.KindTemplate, Key: "broken"}] = "templates/broken.hbs"
	git := []string{
		"create attribute new", "invalid attribute plan git_owned", "skip attribute unused referenced_by", "skip attribute used referenced_by", "unchanged list a",
		"archive list old", "unchanged segment git", "skip segment old git_owned", "invalid template broken e", "unchanged template welcome w",
	}
	got = plan.Make(q)
	if diff := cmp.Diff(git, lines(got)); diff != "" || got.Applicable || got.Totals[plan.Invalid] != 2 {
		t.Errorf("%+v (-want +got):\n%s", got.Totals, diff)
	}
	q = plan.Question{Held: held, Wanted: &definitions.Set{}, Diagnostics: []definitions.Diagnostic{{Severity: definitions.Error}}, Prune: true}
	if got := plan.Make(q); got.Applicable || len(got.Objects) != 0 {
		t.Errorf("a bundle that declares nothing: %+v", got)
	}
}

// TestPlanReachesTheBundle checks with random lists and attributes that, after a plan with prune, the
// organization has exactly what the bundle has, and that a second plan has nothing to do.
func TestPlanReachesTheBundle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		held, wanted := randomSet(t), randomSet(t)
		wanted.Declared = all()
		p := plan.Make(plan.Question{Held: held, Wanted: wanted, Prune: true})
		after := map[definitions.Ref]string{}
		for _, kind := range definitions.Kinds() {
			for _, item := range held.Items(kind) {
				after[item.Ref] = item.Content
			}
		}
		want := map[definitions.Ref]string{}
		for _, kind := range definitions.Kinds() {
			for _, item := range wanted.Items(kind) {
				want[item.Ref] = item.Content
			}
		}
		for _, o := range p.Objects {
			ref := definitions.Ref{Kind: o.Kind, Key: o.Key}
			_, existed := after[ref]
			switch o.Action {
			case plan.Create, plan.Update:
				if existed != (o.Action == plan.Update) {
					t.Fatalf("%v is %s", ref, o.Action)
				}
				after[ref] = want[ref]
			case plan.Archive, plan.Delete:
				delete(after, ref)
			}
		}
		if !maps.Equal(after, want) {
			t.Fatalf("after %v: %v, want %v", lines(p), after, want)
		}
		again := plan.Make(plan.Question{Held: wanted, Wanted: wanted, Prune: true})
		if again.Totals[plan.Unchanged] != len(again.Objects) || len(again.Objects) != len(want) {
			t.Fatalf("again: %v", lines(again))
		}
	})
}

func randomSet(t *rapid.T) *definitions.Set {
	s := &definitions.Set{}
	keys := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 4, rapid.ID[string])
	for _, k := range keys.Draw(t, "lists") {
		s.Lists = append(s.Lists, definitions.List{Key: k, Name: rapid.SampledFrom([]string{"1", "2"}).Draw(t, "name")})
	}
	for _, k := range keys.Draw(t, "attributes") {
		s.Attributes = append(s.Attributes, definitions.Attribute{Name: k, Type: rapid.SampledFrom([]string{"string", "number"}).Draw(t, "type")})
	}
	for _, activity := range []string{"a", "a.b"} {
		for _, k := range slices.Sorted(slices.Values(keys.Draw(t, "properties"))) {
			s.ActivityProperties = append(s.ActivityProperties, definitions.ActivityProperty{Activity: activity, Property: strings.Repeat("b.", len(activity)%2) + k, Type: "string"})
		}
	}
	return s
}
