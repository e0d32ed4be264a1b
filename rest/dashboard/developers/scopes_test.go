package developers

import (
	"slices"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

func TestEveryScopeHasAnArea(t *testing.T) {
	t.Parallel()
	shown := 0
	for _, area := range withBuilt(core.AllScopes()).scopeChoices(nil, nil, members.Member{Role: members.Owner}) {
		if area.Name == "Other" {
			t.Errorf("in no area: %v", area.Choices)
		}
		for _, c := range area.Choices {
			shown++
			if c.Locked || c.Chosen {
				t.Errorf("%s for an owner: %+v", c.Scope, c)
			}
		}
	}
	if want := len(core.ScopeCatalogue()); shown != want {
		t.Errorf("%d scopes are shown, want %d", shown, want)
	}
}

// withBuilt returns the pages of a product whose operations need these scopes.
func withBuilt(scopes core.Scopes) *Developers {
	return &Developers{Pages: &frame.Pages{Frame: frame.New(frame.Config{Built: scopes})}}
}

// TestScopesWithoutOperations checks that forms omit scopes that no operation needs, unless
// the credential has them, and that roles do not select them.
func TestScopesWithoutOperations(t *testing.T) {
	t.Parallel()
	d, owner := withBuilt(core.NewScopes(string(core.ListsView), string(core.ListsManage))), members.Member{Role: members.Owner}
	for what, c := range map[string]struct{ has, want core.Scopes }{
		"new":                  {nil, core.Scopes{core.ListsView, core.ListsManage}},
		"with an unused scope": {core.Scopes{core.WorkflowsView}, core.Scopes{core.ListsView, core.ListsManage, core.WorkflowsView}},
	} {
		var shown core.Scopes
		for _, area := range d.scopeChoices(nil, c.has, owner) {
			for _, choice := range area.Choices {
				shown = append(shown, choice.Scope)
			}
		}
		if !slices.Equal(shown, c.want) {
			t.Errorf("%s: %v, want %v", what, shown, c.want)
		}
	}
	all, _ := members.RoleSetOf("owner")
	viewer, _ := members.RoleSetOf("viewer")
	if got := d.scopesOf(all, owner); !slices.Equal(got, core.Scopes{core.ListsManage, core.ListsView}) {
		t.Errorf("all: %v", got)
	}
	if got := d.scopesOf(viewer, owner); !slices.Equal(got, core.Scopes{core.ListsView}) {
		t.Errorf("viewer: %v", got)
	}
	if got := d.scopesOf(all, members.Member{Role: members.PlainMember}); len(got) != 0 {
		t.Errorf("of a member without permissions: %v", got)
	}
}

func TestWhatMayBeGiven(t *testing.T) {
	t.Parallel()
	giver := members.Member{Role: members.PlainMember, Permissions: []members.Permission{members.MayViewLists}}
	for what, c := range map[string]struct {
		chosen, has core.Scopes
		ok          bool
	}{
		"one's own":             {core.Scopes{core.ListsView}, nil, true},
		"more":                  {core.Scopes{core.ListsView, core.ListsManage}, nil, false},
		"more, but it is there": {core.Scopes{core.ListsView, core.ListsManage}, core.Scopes{core.ListsManage}, true},
		"nothing":               {nil, core.Scopes{core.ListsView}, false},
	} {
		if err := checkGiven(c.chosen, c.has, giver); (err == nil) != c.ok {
			t.Errorf("%s: %v", what, err)
		}
	}
	if checkHandedOut(core.Scopes{core.ListsView}, giver) != nil || checkHandedOut(core.Scopes{core.ListsView, core.ListsManage}, giver) == nil {
		t.Error("a secret is shown to a member who may do less, or refused to one who may do as much")
	}
}
