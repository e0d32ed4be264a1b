package organization

import (
	"embed"
	"slices"

	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

//go:embed pages/*.html
var templates embed.FS

// The paths of the pages to which the navigation and other packages of the dashboard link.
const (
	AccountPath  = frame.Path + "/account"
	ChannelsPath = frame.Path + "/channels"
	MembersPath  = frame.Path + "/members"
	SettingsPath = frame.Path + "/settings"
	AuditPath    = frame.Path + "/audit"
)

// Organization has the pages about the sending account, channels, members, settings and the
// audit log; see dashboard.Room.
type Organization struct {
	Config
	*frame.Pages
}

// New returns the pages of this package. It fails if the templates cannot be read.
func New(f *frame.Frame, cfg Config) (*Organization, error) {
	pages, err := f.Pages(templates)
	if err != nil {
		return nil, err
	}
	return &Organization{cfg, pages}, nil
}

// The page handlers, grouped by what their pages manage. Each has the fields and methods of
// Organization.
type (
	accountHandlers    struct{ *Organization }
	connectionHandlers struct{ *Organization }
	channelHandlers    struct{ *Organization }
	memberHandlers     struct{ *Organization }
	joinHandlers       struct{ *Organization }
	settingsHandlers   struct{ *Organization }
	auditHandlers      struct{ *Organization }
)

// Routes returns the routes of all pages of this package, except the page of an invitation;
// see [Organization.Join].
func (o *Organization) Routes() []frame.Route {
	settings, audit := settingsHandlers{o}, auditHandlers{o}
	return slices.Concat(
		accountHandlers{o}.routes(), connectionHandlers{o}.routes(), channelHandlers{o}.routes(), memberHandlers{o}.routes(),
		[]frame.Route{
			{Path: "/settings", Needs: members.MayManageOrg, Get: settings.showSettings, Post: settings.editSettings},
			{Path: "/audit", Needs: members.MayViewAudit, Get: audit.showAudit},
		},
	)
}

// routes returns the routes of the page of the sending account.
func (h accountHandlers) routes() []frame.Route {
	return []frame.Route{
		{Path: "/account", Needs: members.MayViewAccount, AlsoNeeds: []members.Permission{members.MayViewProduction}, Get: h.showAccount},
		{Path: "/account/production-access", Needs: members.MaySubmitProduction, Post: h.requestProductionAccess},
	}
}

// routes returns the routes of the pages about the connection to the sending account. All
// need the permission to manage the organization.
func (h connectionHandlers) routes() []frame.Route {
	manage := members.MayManageOrg
	return []frame.Route{
		{Path: "/account/connect", Needs: manage, Get: h.showConnect, Post: h.connectAccount},
		{Path: "/account/verify", Needs: manage, Post: h.verifyAccount},
		{Path: "/account/template-version", Needs: manage, Post: h.recordTemplateVersion},
		{Path: "/account/events-key", Needs: manage, Get: h.askForEventsKey, Post: h.makeEventsKey},
		{Path: "/account/disconnect", Needs: manage, Get: h.askToDisconnect, Post: h.disconnectAccount},
	}
}

// routes returns the routes of the page of channels and its forms.
func (h channelHandlers) routes() []frame.Route {
	return []frame.Route{
		{Path: "/channels", Needs: members.MayViewSending, Get: h.showChannels},
		{Path: "/channels/sync", Needs: members.MayTriggerSync, Post: h.syncAccount},
		{Path: "/channels/{slug}/adopt", Needs: members.MayAdoptChannels, Post: h.adoptChannel},
	}
}

// routes returns the routes of the pages about members. Every member may see the list of
// members and leave; everything else needs the permission to manage members.
func (h memberHandlers) routes() []frame.Route {
	manage := members.MayManageMembers
	return []frame.Route{
		{Path: "/members", Get: h.showMembers},
		{Path: "/members/leave", Post: h.leave},
		{Path: "/members/invite", Needs: manage, Get: h.showInvite, Post: h.invite},
		{Path: "/members/invitations/{id}/withdraw", Needs: manage, Post: h.withdraw},
		{Path: "/members/{id}", Needs: manage, Get: h.showMember},
		{Path: "/members/{id}/permissions", Needs: manage, Post: h.setPermissions},
		{Path: "/members/{id}/role", Needs: manage, Post: h.setRole},
		{Path: "/members/{id}/remove", Needs: manage, Post: h.removeMember},
	}
}
