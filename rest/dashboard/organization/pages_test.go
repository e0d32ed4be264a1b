package organization_test

import (
	"context"
	"flag"
	"net/url"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	"github.com/mailhelm/mailhelm/rest/dashboard/organization"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var update = flag.Bool("update", false, "write the golden files again")

func (o *office) wantGolden(name, path string) {
	o.T.Helper()
	_, page := frametest.Get(o.T, o.pages, path)
	frametest.CompareGolden(o.T, name, page, *update)
}

func (o *office) wantGoldenAfter(name, path string, form url.Values) {
	o.T.Helper()
	_, page := frametest.Post(o.T, o.pages, o.Site.Visitor, path, form)
	frametest.CompareGolden(o.T, name, page, *update)
}

// connect connects the organization to an SES account, with an IAM role.
func (o *office) connect() {
	o.T.Helper()
	o.store(sending.NewConnection{
		OrgID: o.Org.ID, Provider: sending.SES, Region: "eu-central-1", AccessKeyID: "AKIAIOSFODNN7EXAMPLE", Secret: "hidden",
		RoleARN: "arn:aws:iam::111122223333:role/mailhelm",
	})
}

// store stores the connection, with the visitor as the actor.
func (o *office) store(n sending.NewConnection) {
	o.T.Helper()
	tasks := o.config.Connecting
	tasks.Record = func(ctx context.Context, _, action string, detail map[string]any) error {
		return o.Frame.Record(ctx, o.Site.Visitor, action, o.Org.ID, detail)
	}
	_, err := tasks.Connect(o.T.Context(), n)
	o.Must(err)
}

func TestGoldenPagesOfTheSendingAccount(t *testing.T) {
	t.Parallel()
	o := newOffice(t, storagetest.SQLite(t))
	account := organization.AccountPath
	o.wantGolden("account_none", account)
	for _, provider := range []string{"ses", "smtp", "simulator", "other"} {
		o.wantGolden("account_connect_"+provider, account+"/connect?provider="+provider)
	}
	o.connect()
	hour := frametest.Now().Add(-time.Hour)
	for _, result := range []sending.SyncResult{
		{Kind: sending.ChannelSync, EndedAt: hour, SucceededAt: &hour},
		{Kind: sending.TemplateSync, EndedAt: hour, SucceededAt: &hour},
		{Kind: sending.TemplateSync, EndedAt: frametest.Now().Add(-time.Minute), Failure: sending.Refused},
		{Kind: sending.ContactSync, EndedAt: hour, Failure: sending.Internal},
	} {
		o.Must(o.db.SyncResults().SaveSyncResult(o.T.Context(), o.Org.ID, result))
	}
	o.wantGolden("account", account)
	o.wantGolden("account_events_key", account+"/events-key")
	o.wantGolden("account_disconnect", account+"/disconnect")
	o.wantGolden("channels", organization.ChannelsPath)
	o.wantGoldenAfter("account_connect_refused", account+"/connect", url.Values{"provider": {"smtp"}, "max_send_rate": {"x"}})
	o.wantGoldenAfter("account_request_refused", account+"/production-access", url.Values{"mail_type": {"x"}})
	o.wantGoldenAfter("account_events_secret", account+"/events-key", nil)
	o.Allow(members.MayViewAccount)
	o.wantGolden("account_of_member", account)
}

func TestGoldenPagesOfTheOrganization(t *testing.T) {
	t.Parallel()
	o := newOffice(t, storagetest.SQLite(t))
	kim := access.User{ID: core.NewID(), Email: "kim@example.com", Name: "Kim", CreatedAt: frametest.Now()}
	o.Must(o.db.Users().InsertUser(t.Context(), kim))
	o.Must(o.db.Members().SetMember(t.Context(), members.Member{OrgID: o.Org.ID, UserID: kim.ID, Role: members.PlainMember, Permissions: []members.Permission{
		members.MayViewLists, members.MayViewAnalytics, members.MayViewUndeliverable, members.MayViewAccount,
	}}))
	_, secret, err := o.members.Invite(t.Context(), access.ActorOf(o.User.ID), members.NewInvitation{
		OrgID: o.Org.ID, Email: "ada@example.com", Role: members.PlainMember, Permissions: []members.Permission{members.MayViewLists},
	})
	o.Must(err)
	o.connect()
	for name, path := range map[string]string{
		"members": organization.MembersPath, "invite": organization.MembersPath + "/invite", "member": organization.MembersPath + "/" + kim.ID,
		"settings": organization.SettingsPath, "audit": organization.AuditPath, "audit_narrow": organization.AuditPath + "?action=member.invited",
		"audit_refused": organization.AuditPath + "?from=x", "join": organization.JoinPath + "?token=" + secret, "join_none": organization.JoinPath + "?token=x",
	} {
		o.wantGolden(name, path)
	}
	o.wantGoldenAfter("invite_refused", organization.MembersPath+"/invite", url.Values{"email": {"x"}, "role": {"member"}})
	o.wantGoldenAfter("invited", organization.MembersPath+"/invite", url.Values{"email": {"new@example.com"}, "role": {"member"}, "permission": {"lists.view"}})
	o.wantGoldenAfter("settings_refused", organization.SettingsPath, url.Values{"name": {""}, "shown_name": {"Acme"}})
	o.wantGoldenAfter("form_outdated", organization.SettingsPath, url.Values{"token": {"x"}})
	o.Allow(members.MayViewLists)
	o.wantGolden("members_of_member", organization.MembersPath)
	o.signedIn = false
	// An invitation is valid only while its creator may invite, so the creator becomes an
	// owner again.
	o.Join(members.Member{Role: members.Owner})
	o.wantGolden("join_new", organization.JoinPath+"?token="+secret)
}
