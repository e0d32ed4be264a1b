package members_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
)

func TestEveryScopeHasItsPermission(t *testing.T) {
	t.Parallel()
	all := members.AllPermissions()
	if !slices.IsSorted(all) || len(slices.Compact(slices.Clone(all))) != len(all) {
		t.Error("the catalogue is not a sorted set")
	}
	owner := members.Member{Role: members.Owner}
	if got := owner.Scopes(); !slices.Equal(got, core.AllScopes()) {
		t.Errorf("an owner's ceiling lacks scopes: %v", got)
	}
	if got := (members.Member{Role: members.PlainMember, Permissions: all}).Scopes(); !slices.Equal(got, core.AllScopes()) {
		t.Errorf("all permissions do not cover all scopes: %v", got)
	}
}

func TestALostPermissionTakesItsScopes(t *testing.T) {
	t.Parallel()
	m := members.Member{Role: members.PlainMember, Permissions: []members.Permission{members.MayViewContacts, members.MayManageLists}}
	want := core.NewScopes("api.contacts.view", "api.topics.view", "api.attributes.view", "api.lists.manage")
	if got := m.Scopes(); !slices.Equal(got, want) {
		t.Errorf("scopes %v, want %v", got, want)
	}
	m.Permissions = nil
	if got := m.Scopes(); len(got) != 0 {
		t.Errorf("a member without permissions has scopes: %v", got)
	}
	if m.Has(members.MayViewContacts) || !(members.Member{Role: members.Owner}).Has(members.MayManageOrg) {
		t.Error("permissions of the roles")
	}
}

// TestPermissionsOfPeopleOnly lists the permissions that no scope covers, so that no token, and
// thus no assistant and no integration, can have them.
func TestPermissionsOfPeopleOnly(t *testing.T) {
	t.Parallel()
	covered := map[members.Permission]bool{}
	for _, s := range core.AllScopes() {
		covered[members.PermissionFor(s)] = true
	}
	var without []string
	for _, p := range members.AllPermissions() {
		if !covered[p] {
			without = append(without, string(p))
		}
	}
	want := "audit.view campaigns.approve channels.adopt credentials.manage members.manage org.manage persons.manage ses.production_access.submit ses.production_access.view suppression.manage sync.trigger undeliverable.configure undeliverable.manage"
	if got := strings.Join(without, " "); got != want {
		t.Errorf("no scope covers %q, want %q", got, want)
	}
}
