package members_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
)

// rolesOf has the role sets to which each permission belongs, apart from the set with all.
var rolesOf = map[string]string{
	"account.view": "viewer marketer developer", "analytics.view": "viewer marketer developer", "suppression.view": "viewer marketer developer",
	"undeliverable.view": "viewer marketer developer", "sending.view": "viewer marketer developer", "ses.production_access.view": "viewer marketer developer",
	"content.view": "viewer marketer developer", "contacts.view": "viewer marketer developer", "lists.view": "viewer marketer developer",
	"segments.view": "viewer marketer developer", "activities.view": "viewer marketer developer", "campaigns.view": "viewer marketer developer",
	"inbound.view": "viewer marketer developer", "domain_auth.view": "viewer marketer developer",
	"analytics.search.recipients": "marketer developer", "content.manage": "marketer developer", "content.test": "marketer developer",
	"contacts.manage": "marketer developer", "lists.manage": "marketer developer", "segments.manage": "marketer developer",
	"suppression.manage": "marketer", "undeliverable.manage": "marketer", "campaigns.manage": "marketer", "campaigns.approve": "marketer",
	"undeliverable.configure": "developer", "channels.adopt": "developer", "sync.trigger": "developer", "ses.production_access.submit": "developer",
	"attributes.manage": "developer", "activities.write": "developer", "inbound.manage": "developer", "domain_auth.manage": "developer",
	"credentials.manage": "developer", "audit.view": "developer",
	"members.manage": "", "org.manage": "", "persons.manage": "",
}

// TestRoleSets checks to which sets each permission belongs, and that a new permission is
// decided here.
func TestRoleSets(t *testing.T) {
	t.Parallel()
	sets := map[members.Permission][]string{}
	for _, set := range members.RoleSets() {
		for i, p := range set.Permissions {
			if slices.Contains(set.Permissions[:i], p) {
				t.Errorf("%s has %s twice", set.Name, p)
			}
			if set.Name != "owner" {
				sets[p] = append(sets[p], set.Name)
			}
		}
		if found, ok := members.RoleSetOf(set.Name); !ok || found.Title != set.Title {
			t.Errorf("%s is found as %+v", set.Name, found)
		}
	}
	for _, p := range members.AllPermissions() {
		want, decided := rolesOf[string(p)]
		if got := strings.Join(sets[p], " "); !decided || got != want {
			t.Errorf("%s belongs to %q, want %q (decided: %v)", p, got, want, decided)
		}
		if !strings.HasSuffix(string(p), ".view") && slices.Contains(sets[p], "viewer") {
			t.Errorf("a viewer has %s", p)
		}
	}
	owner, _ := members.RoleSetOf("owner")
	if !slices.Equal(owner.Permissions, members.AllPermissions()) {
		t.Errorf("the set of an owner: %v", owner.Permissions)
	}
	if viewer, _ := members.RoleSetOf("viewer"); viewer.Scopes().Has(core.ContactsManage) || !viewer.Scopes().Has(core.ContactsView) {
		t.Errorf("scopes of a viewer: %v", viewer.Scopes())
	}
	if _, ok := members.RoleSetOf("Admin"); ok {
		t.Error("a set without a definition is found")
	}
}
