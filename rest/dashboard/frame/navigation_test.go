package frame

import (
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestNavigationListsOtherOrganizations checks that the navigation lists a person's other
// organizations by name. Every page reads them, so the frame reads all in one query.
func TestNavigationListsOtherOrganizations(t *testing.T) {
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
				must(db.Members().SetMember(t.Context(), members.Member{OrgID: org.ID, UserID: user.ID, Role: members.PlainMember}))
			}
		}
		f := New(Config{Organizations: db.Members()})
		n, err := f.navigation(httptest.NewRequestWithContext(t.Context(), "GET", Path, nil), people.Visitor{User: user, Org: orgs["Here"]})
		must(err)
		if diff := cmp.Diff([]core.Org{orgs["acme"], orgs["zeta"]}, n.Others); diff != "" {
			t.Errorf("other organizations (-want +got):\n%s", diff)
		}
	})
}

// TestAreaOfPath checks that a page belongs to the navigation entry whose path, in whole
// segments, begins the page's path. Without such an entry, the page belongs to the
// overview.
func TestAreaOfPath(t *testing.T) {
	t.Parallel()
	f := New(Config{Areas: []Area{{Path: Path}, {Path: Path + "/account"}, {Path: Path + "/keys"}}})
	for path, want := range map[string]string{
		Path: Path, Path + "/keys": Path + "/keys", Path + "/keys/1/revoke": Path + "/keys", Path + "/keysmith": Path, Path + "/account/connect": Path + "/account",
	} {
		if got := f.areaOf(path).Path; got != want {
			t.Errorf("area of %s: %s, want %s", path, got, want)
		}
	}
}
