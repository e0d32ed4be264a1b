package core_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
)

func TestScopesAreASet(t *testing.T) {
	t.Parallel()
	set := core.NewScopes("api.lists.view", "api.contacts.view", "api.lists.view", "api.made.up", "")
	if diff := cmp.Diff([]string{"api.contacts.view", "api.lists.view"}, set.Strings()); diff != "" {
		t.Error(diff)
	}
	if !set.Has(core.ListsView) || set.Has(core.ListsManage) {
		t.Error("membership")
	}
	if got := set.FirstMissing([]core.Scope{core.ListsView, core.TopicsView}); got != core.TopicsView {
		t.Errorf("missing %q", got)
	}
	if got := set.Intersect(core.AllScopes()); len(got) != 2 {
		t.Errorf("intersection %v", got)
	}
}

func TestTheScopeCatalogue(t *testing.T) {
	t.Parallel()
	all := core.ScopeCatalogue()
	if len(all) != 38 || len(core.AllScopes()) != len(all) {
		t.Errorf("%d scopes, %d different", len(all), len(core.AllScopes()))
	}
	for _, info := range all {
		if info.Description == "" {
			t.Errorf("%s says nothing to the person who consents", info.Scope)
		}
	}
}

func TestTestCredentialsGetATenth(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int]int{300: 30, 10: 1, 5: 1, 1: 1} {
		p := core.Principal{Org: core.Org{RateLimit: &limit}, Credential: core.Credential{Environment: core.Test}}
		if got := *p.RateLimit(); got != want {
			t.Errorf("a tenth of %d is %d, want %d", limit, got, want)
		}
		p.Credential.Environment = core.Live
		if got := *p.RateLimit(); got != limit {
			t.Errorf("live: %d", got)
		}
	}
	if (core.Principal{Credential: core.Credential{Environment: core.Test}}).RateLimit() != nil {
		t.Error("no limit has no tenth")
	}
}
