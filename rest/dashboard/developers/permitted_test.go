package developers_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/rest/dashboard/developers"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func TestPermissionsAreCheckedInTheTransaction(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		o := newOffice(t, db)
		key, client := developers.KeysPath+"/"+o.key.ID, developers.ClientsPath+"/"+o.client.ID
		document := url.Values{"client_id": {"https://app.example.com/client.json"}}
		manage := members.MayManageCredentials
		o.CheckPermissions(o.pages, o.state,
			frametest.Form{Name: "new key", Needs: manage, Path: developers.NewKeyPath, Form: url.Values{
				"once": {core.NewID()}, "name": {"Other"}, "environment": {"live"}, "scope": {string(core.ChannelsView)},
			}, Done: http.StatusOK},
			frametest.Form{Name: "scopes of a key", Needs: manage, Path: key + "/scopes", Form: url.Values{
				"scope": {string(core.TrackingView)}, "apply": {"yes"},
			}, Done: http.StatusSeeOther},
			frametest.Form{Name: "rotate", Needs: manage, Path: key + "/rotate", Done: http.StatusOK},
			frametest.Form{Name: "revoke key", Needs: manage, Path: key + "/revoke", Done: http.StatusSeeOther},
			frametest.Form{Name: "new client", Needs: manage, Path: developers.ClientsPath + "/new", Form: newClient(), Done: http.StatusOK},
			frametest.Form{Name: "edit client", Needs: manage, Path: client + "/edit", Form: newClient(), Done: http.StatusSeeOther},
			frametest.Form{Name: "secret of a client", Needs: manage, Path: client + "/secret", Done: http.StatusOK},
			frametest.Form{Name: "grant of another", Needs: manage, Path: developers.GrantsPath + "/" + o.grants[1].ID + "/revoke", Done: http.StatusSeeOther},
			frametest.Form{Name: "revoke client", Needs: manage, Path: client + "/revoke", Done: http.StatusSeeOther},
			frametest.Form{Name: "block", Needs: manage, Path: developers.ClientsPath + "/block", Form: document, Done: http.StatusSeeOther},
			frametest.Form{Name: "unblock", Needs: manage, Path: developers.ClientsPath + "/unblock", Form: document, Done: http.StatusSeeOther},
		)
	})
}

// TestOwnGrantNeedsMembership checks that a member without permissions can revoke their own
// grant. A person whose membership ends during the request must be refused.
func TestOwnGrantNeedsMembership(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		o := newOffice(t, db)
		path, before := developers.GrantsPath+"/"+o.grants[0].ID+"/revoke", o.state()
		o.Allow()
		o.Delay.First = o.Remove
		if status, _ := frametest.Post(t, o.pages, o.Site.Visitor, path, nil); status != http.StatusForbidden || !cmp.Equal(before, o.state()) {
			t.Errorf("without the membership: %d", status)
		}
		o.Allow()
		if status, _ := frametest.Post(t, o.pages, o.Site.Visitor, path, nil); status != http.StatusSeeOther || cmp.Equal(before, o.state()) {
			t.Errorf("with it: %d", status)
		}
	})
}

// TestScopesAreBoundedInTheTransaction checks forms whose sender loses permissions during
// the request. The transaction must refuse scopes that the remaining permissions do not
// cover. It must also refuse a new secret for a credential with such scopes. Nothing must
// change.
func TestScopesAreBoundedInTheTransaction(t *testing.T) {
	t.Parallel()
	o := newOffice(t, storagetest.SQLite(t))
	key, client := developers.KeysPath+"/"+o.key.ID, developers.ClientsPath+"/"+o.client.ID
	wider := newClient()
	wider["scope"], wider["apply"], wider["redirect_uris"] = []string{string(core.TrackingView)}, []string{"yes"}, []string{"https://example.com/elsewhere"}
	for path, want := range map[string]int{
		developers.NewKeyPath: http.StatusUnprocessableEntity, key + "/scopes": http.StatusUnprocessableEntity, key + "/rotate": http.StatusConflict,
		developers.ClientsPath + "/new": http.StatusUnprocessableEntity, client + "/edit": http.StatusUnprocessableEntity, client + "/secret": http.StatusConflict,
	} {
		before := o.state()
		o.Allow(members.MayManageCredentials, members.MayViewSending)
		o.Delay.First = func() { o.TakeAway(members.MayManageCredentials) }
		if status, _ := frametest.Post(t, o.pages, o.Site.Visitor, path, wider); status != want || o.Delay.First != nil {
			t.Errorf("%s: %d, want %d", path, status, want)
		}
		if diff := cmp.Diff(before, o.state()); diff != "" {
			t.Errorf("%s changed (-before +after):\n%s", path, diff)
		}
	}
}
