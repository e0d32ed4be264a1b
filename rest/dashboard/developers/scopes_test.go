package developers

import (
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
)

func TestEveryScopeHasAnArea(t *testing.T) {
	t.Parallel()
	shown := 0
	for _, area := range scopeChoices(nil, nil, members.Member{Role: members.Owner}) {
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
