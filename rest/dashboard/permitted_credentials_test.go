package dashboard

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// credentials are what an office has made already, for forms to change.
type credentials struct {
	key    access.APIKey
	client access.Client
	grants [2]access.Grant // the member's own, and somebody else's
}

func (o *office) credentials() credentials {
	o.t.Helper()
	ctx, op := o.t.Context(), access.ActorOf(access.Operator)
	tasks := access.Lifecycle{Stores: o.db.Access(), Orgs: o.db.Orgs(), Transactor: o.db, Clock: o.d.Clock}
	scopes := core.NewScopes(string(core.ChannelsView))
	var made credentials
	var err error
	made.key, _, err = tasks.CreateKey(ctx, op, access.NewKey{OrgID: o.org.ID, Name: "Key", Environment: core.Live, Scopes: scopes})
	o.must(err)
	made.client, _, err = tasks.CreateClient(ctx, op, access.NewClient{
		OrgID: o.org.ID, Name: "Client", Environment: core.Live, Scopes: scopes, RedirectURIs: []string{"https://example.com/back"},
	})
	o.must(err)
	other := access.User{ID: core.NewID(), Email: core.NewID() + "@example.com", CreatedAt: o.d.Clock()}
	o.must(o.db.Users().InsertUser(ctx, other))
	for i, user := range []access.User{o.user, other} {
		made.grants[i] = access.Grant{
			ID: core.NewID(), OrgID: o.org.ID, UserID: user.ID, ClientID: made.client.ClientID, Resource: access.API, Scopes: scopes, CreatedAt: o.d.Clock(),
		}
		o.must(o.db.Grants().InsertGrant(ctx, made.grants[i]))
	}
	return made
}

// What is done with credentials takes the permission in the moment it is done.
func TestAPermissionLostMeanwhileCountsForCredentials(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		o := newOffice(t, db)
		has, manage := o.credentials(), access.MayManageCredentials
		document := url.Values{fieldClient: {"https://app.example.com/client.json"}}
		client := url.Values{
			"once": {core.NewID()}, fieldName: {"Other"}, fieldEnvironment: {"live"}, fieldRedirects: {"https://example.com/back"},
			fieldRefresh: {"90"}, fieldScope: {string(core.ChannelsView)},
		}
		o.takePermission(
			posted{"new key", manage, o.d.createKey, "", url.Values{
				"once": {core.NewID()}, fieldName: {"Other"}, fieldEnvironment: {"live"}, fieldScope: {string(core.ChannelsView)},
			}, http.StatusOK},
			posted{"scopes of a key", manage, o.d.editKeyScopes, has.key.ID, url.Values{
				fieldScope: {string(core.TrackingView)}, fieldApply: {"yes"},
			}, http.StatusSeeOther},
			posted{"rotate", manage, o.d.rotateKey, has.key.ID, nil, http.StatusOK},
			posted{"revoke key", manage, o.d.revokeKey, has.key.ID, nil, http.StatusSeeOther},
			posted{"new client", manage, o.d.createClient, "", client, http.StatusOK},
			posted{"edit client", manage, o.d.editClient, has.client.ID, client, http.StatusSeeOther},
			posted{"secret of a client", manage, o.d.rotateSecret, has.client.ID, nil, http.StatusOK},
			posted{"somebody's grant", manage, o.d.revokeGrant, has.grants[1].ID, nil, http.StatusSeeOther},
			posted{"revoke client", manage, o.d.revokeClient, has.client.ID, nil, http.StatusSeeOther},
			posted{"block", manage, o.d.blockClient, "", document, http.StatusSeeOther},
			posted{"unblock", manage, o.d.unblockClient, "", document, http.StatusSeeOther},
		)
	})
}

// Everybody ends what they allowed themselves, as long as they belong to the
// organization.
func TestAnOwnGrantTakesTheMembership(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		o := newOffice(t, db)
		own := o.credentials().grants[0]
		before, admitted := o.state(), o.may()
		o.late.first = func() { o.must(db.Members().RemoveMember(t.Context(), o.org.ID, o.user.ID)) }
		if status := o.post(o.d.revokeGrant, own.ID, admitted, nil); status != http.StatusForbidden || !cmp.Equal(before, o.state()) {
			t.Errorf("without the membership: %d", status)
		}
		if status := o.post(o.d.revokeGrant, own.ID, o.may(), nil); status != http.StatusSeeOther || cmp.Equal(before, o.state()) {
			t.Errorf("with it: %d", status)
		}
	})
}

// Nobody gives a program what they may not do any more in the moment they give it,
// or is shown a secret that may do more than they.
func TestScopesAreGivenFromThePermissionsOfTheMoment(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	o := newOffice(t, db)
	has, wider := o.credentials(), url.Values{
		"once": {core.NewID()}, fieldName: {"Other"}, fieldEnvironment: {"live"}, fieldRedirects: {"https://example.com/elsewhere"},
		fieldRefresh: {"90"}, fieldScope: {string(core.TrackingView)}, fieldApply: {"yes"},
	}
	for _, f := range []posted{
		{"new key", "", o.d.createKey, "", wider, http.StatusUnprocessableEntity},
		{"scopes of a key", "", o.d.editKeyScopes, has.key.ID, wider, http.StatusUnprocessableEntity},
		{"rotate", "", o.d.rotateKey, has.key.ID, nil, http.StatusConflict},
		{"new client", "", o.d.createClient, "", wider, http.StatusUnprocessableEntity},
		{"edit client", "", o.d.editClient, has.client.ID, wider, http.StatusUnprocessableEntity},
		{"secret of a client", "", o.d.rotateSecret, has.client.ID, nil, http.StatusConflict},
	} {
		before, admitted := o.state(), o.may(access.MayManageCredentials, access.MayViewSending)
		o.late.first = func() { o.may(access.MayManageCredentials) }
		if status := o.post(f.page, f.id, admitted, f.form); status != f.done {
			t.Errorf("%s: %d", f.name, status)
		}
		if diff := cmp.Diff(before, o.state()); diff != "" {
			t.Errorf("%s changed (-before +after):\n%s", f.name, diff)
		}
	}
}
