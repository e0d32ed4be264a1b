package dashboard

import (
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// The navigation is on every page. It has no store to read organizations from one
// by one: all that a person belongs to come with the memberships.
func TestNavigationReadsOrganizationsTogether(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		user := access.User{ID: core.NewID(), Email: "p@example.com", CreatedAt: core.SystemClock()}
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		must(db.Users().InsertUser(t.Context(), user))
		orgs := map[string]core.Org{}
		for _, name := range []string{"zeta", "Here", "acme", "Foreign"} {
			org := core.Org{ID: core.NewID(), Name: name, Slug: core.NewID(), Tier: "team"}
			orgs[name] = org
			must(db.Orgs().InsertOrg(t.Context(), org))
			if name != "Foreign" {
				must(db.Members().SetMember(t.Context(), access.Member{OrgID: org.ID, UserID: user.ID, Role: access.PlainMember}))
			}
		}
		d := Dashboard{Config: Config{Members: db.Members()}}
		n, err := d.navigation(httptest.NewRequestWithContext(t.Context(), "GET", Path, nil), access.Visitor{User: user, Org: orgs["Here"]})
		must(err)
		if diff := cmp.Diff([]core.Org{orgs["acme"], orgs["zeta"]}, n.Others); diff != "" {
			t.Errorf("other organizations (-want +got):\n%s", diff)
		}
	})
}
