package frame_test

import (
	"net/http"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
)

// TestBuiltPermissions checks which permissions forms may offer: those of a page, and those
// that cover a scope of an operation.
func TestBuiltPermissions(t *testing.T) {
	t.Parallel()
	f := frame.New(frame.Config{Site: &frametest.Site{}, Built: core.Scopes{core.ListsView, core.TopicsView}})
	page := func(http.ResponseWriter, *http.Request, people.Visitor) {}
	if _, err := f.Mux([]frame.Route{
		{Path: "/a", Needs: members.MayViewAudit, AlsoNeeds: []members.Permission{members.MayManageOrg}, Get: page}, {Path: "/b", Get: page},
	}); err != nil {
		t.Fatal(err)
	}
	for p, want := range map[members.Permission]bool{
		members.MayViewAudit: true, members.MayManageOrg: true, members.MayViewLists: true, members.MayViewContacts: true,
		members.MayManageLists: false, members.MayViewCampaigns: false,
	} {
		if f.IsPermissionBuilt(p) != want {
			t.Errorf("%s: %v", p, !want)
		}
	}
	if !f.IsScopeBuilt(core.ListsView) || f.IsScopeBuilt(core.WorkflowsView) {
		t.Error("scopes of operations")
	}
}
