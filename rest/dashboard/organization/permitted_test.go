package organization_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	"github.com/mailhelm/mailhelm/rest/dashboard/organization"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// state returns the channel, the connection, the latest request for production access, and
// the audit log. Tests compare the state before and after a request.
func (o *office) state() []any {
	o.T.Helper()
	ctx, seen := o.T.Context(), []any{}
	see := func(found any, err error) {
		o.T.Helper()
		if err != nil && core.AsError(err).Code != core.CodeNotFound {
			o.T.Fatal(err)
		}
		seen = append(seen, found)
	}
	channel, err := o.db.Channels().Channel(ctx, o.Org.ID, channels.ChannelKey{Slug: "main"})
	see(channel, err)
	connection, err := o.config.Connections.Connection(ctx, o.Org.ID)
	see(connection, err)
	request, err := o.db.ProductionRequests().LatestRequest(ctx, o.Org.ID)
	see(request, err)
	lines, err := o.db.Audit().FindAudit(ctx, o.Org.ID, access.AuditFilter{Limit: 100})
	see(lines, err)
	return seen
}

func TestPermissionsAreCheckedInTheTransaction(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		o := newOffice(t, db)
		account := organization.AccountPath
		o.CheckPermissions(o.pages, o.state,
			frametest.Form{Name: "adopt", Needs: members.MayAdoptChannels, Path: organization.ChannelsPath + "/main/adopt", Done: http.StatusSeeOther},
			frametest.Form{Name: "sync", Needs: members.MayTriggerSync, Path: organization.ChannelsPath + "/sync", Done: http.StatusSeeOther},
			frametest.Form{
				Name: "connect", Needs: members.MayManageOrg, Path: account + "/connect", Form: url.Values{"provider": {"simulator"}}, Done: http.StatusSeeOther,
			},
			frametest.Form{
				Name: "template version", Needs: members.MayManageOrg, Path: account + "/template-version",
				Form: url.Values{"template_version": {"1"}}, Done: http.StatusSeeOther,
			},
			frametest.Form{Name: "events key", Needs: members.MayManageOrg, Path: account + "/events-key", Done: http.StatusOK},
			frametest.Form{Name: "disconnect", Needs: members.MayManageOrg, Path: account + "/disconnect", Done: http.StatusSeeOther},
			frametest.Form{
				Name: "production access", Needs: members.MaySubmitProduction, Path: account + "/production-access", Form: url.Values{
					"mail_type": {"TRANSACTIONAL"}, "website": {"https://example.com"}, "use_case": {strings.Repeat("Receipts for orders. ", 3)},
				}, Done: http.StatusSeeOther,
			},
		)
	})
}

// TestRunningSyncIsNotRepeated checks that the request for a sync adds nothing to the audit
// log if a sync is already scheduled.
func TestRunningSyncIsNotRepeated(t *testing.T) {
	t.Parallel()
	o := newOffice(t, storagetest.SQLite(t))
	o.config.SyncAccount = func(context.Context, string) (bool, error) { return false, nil }
	o.mount()
	o.Allow(members.MayTriggerSync)
	before := o.state()
	status, _ := frametest.Post(t, o.pages, o.Site.Visitor, organization.ChannelsPath+"/sync", nil)
	if status != http.StatusSeeOther || !cmp.Equal(before, o.state()) {
		t.Errorf("%d: %s", status, cmp.Diff(before, o.state()))
	}
}
