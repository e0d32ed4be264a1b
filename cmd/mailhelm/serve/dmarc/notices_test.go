package dmarc_test

import (
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/dmarc"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestReaders checks that only members of the organization who may see domain authentication are
// mailed about its domains.
func TestReaders(t *testing.T) {
	t.Parallel()
	db, org, other := storagetest.SQLite(t), core.NewID(), core.NewID()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{org, other} {
		must(db.Orgs().InsertOrg(t.Context(), core.Org{ID: id, Name: "Bakery", Slug: id, Tier: "team", RetentionDays: 30}))
	}
	readers := dmarc.Readers{Members: db.Members(), Users: db.Users()}
	for _, c := range []struct {
		name   string
		member members.Member
		want   bool
	}{
		{"owner", members.Member{OrgID: org, Role: members.Owner}, true},
		{"viewer", members.Member{OrgID: org, Role: members.PlainMember, Permissions: []members.Permission{members.MayViewDomainAuth}}, true},
		{"clerk", members.Member{OrgID: org, Role: members.PlainMember, Permissions: []members.Permission{members.MayViewAccount}}, false},
		{"neighbour", members.Member{OrgID: other, Role: members.Owner}, false},
	} {
		c.member.UserID = core.NewID()
		must(db.Users().InsertUser(t.Context(), access.User{ID: c.member.UserID, Email: c.name + "@people.example", CreatedAt: time.Unix(0, 0)}))
		must(db.Members().SetMember(t.Context(), c.member))
		address, ok, err := readers.Address(t.Context(), org, c.member.UserID)
		must(err)
		if ok != c.want || ok && address != c.name+"@people.example" {
			t.Errorf("%s: %q, %v", c.name, address, ok)
		}
	}
	if _, ok, err := readers.Address(t.Context(), org, core.NewID()); ok || err != nil {
		t.Errorf("a person without account: %v, %v", ok, err)
	}
}
