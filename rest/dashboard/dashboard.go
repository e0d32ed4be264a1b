package dashboard

import (
	"net/http"

	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// The groups of the sidebar.
const (
	groupSend         = "Send"
	groupAudience     = "Audience"
	groupInsight      = "Insight"
	groupReceive      = "Receive"
	groupDevelopers   = "Developers"
	groupOrganization = "Organization"
)

// Areas are the entries of the sidebar, in order.
var Areas = []frame.Area{
	{Path: frame.Path, Name: "Home", Key: "h"},
	{Group: groupSend, Path: frame.Path + "/broadcasts", Name: "Broadcasts", Needs: members.MayViewCampaigns, Key: "b"},
	{Group: groupSend, Path: frame.Path + "/workflows", Name: "Workflows", Needs: members.MayViewCampaigns, Key: "o"},
	{Group: groupSend, Path: frame.Path + "/templates", Name: "Templates", Needs: members.MayViewContent, Key: "e"},
	{Group: groupSend, Path: frame.Path + "/tags", Name: "Tags", Needs: members.MayViewContent},
	{Group: groupSend, Path: frame.Path + "/approvals", Name: "Approvals", Needs: members.MayViewCampaigns, Key: "p"},
	{Group: groupSend, Path: frame.Path + "/send-policy", Name: "Send policy", Needs: members.MayManageOrg},
	{Group: groupAudience, Path: frame.Path + "/contacts", Name: "Contacts", Needs: members.MayViewContacts, Key: "c"},
	{Group: groupAudience, Path: frame.Path + "/lists", Name: "Lists", Needs: members.MayViewLists, Key: "l"},
	{Group: groupAudience, Path: frame.Path + "/topics", Name: "Topics", Needs: members.MayViewContacts, Key: "t"},
	{Group: groupAudience, Path: frame.Path + "/contacts/import", Name: "Import", Needs: members.MayManageContacts},
	{Group: groupAudience, Path: frame.Path + "/personal-data", Name: "Personal data", Needs: members.MayManagePersons},
	{Group: groupAudience, Path: frame.Path + "/attributes", Name: "Attributes", Needs: members.MayViewContacts, Key: "a"},
	{Group: groupAudience, Path: frame.Path + "/activities", Name: "Activities", Needs: members.MayViewActivities, Key: "v"},
	{Group: groupAudience, Path: frame.Path + "/segments", Name: "Segments", Needs: members.MayViewSegments, Key: "s"},
	{Group: groupInsight, Path: frame.Path + "/health", Name: "Sending health", Needs: members.MayViewAnalytics, Key: "i"},
	{Group: groupInsight, Path: frame.Path + "/messages", Name: "Messages", Needs: members.MayViewAnalytics, Key: "m"},
	{Group: groupInsight, Path: frame.Path + "/reports", Name: "Reports", Needs: members.MayViewAnalytics, Key: "r"},
	{Group: groupInsight, Path: frame.Path + "/suppressions", Name: "Suppressions", Needs: members.MayViewSuppression},
	{Group: groupInsight, Path: frame.Path + "/undeliverable", Name: "Undeliverable", Needs: members.MayViewUndeliverable, Key: "u"},
	{Group: groupInsight, Path: frame.Path + "/domain-auth", Name: "Domain authentication", Needs: members.MayViewDomainAuth, Key: "d"},
	{Group: groupReceive, Path: frame.Path + "/receiving", Name: "Receiving domains", Needs: members.MayViewInbound},
	{Group: groupReceive, Path: frame.Path + "/received-mail", Name: "Received mail", Needs: members.MayViewInbound},
	{Group: groupDevelopers, Path: frame.Path + "/connect", Name: "Connect an assistant"},
	{Group: groupDevelopers, Path: frame.Path + "/grants", Name: "Access"},
	{Group: groupDevelopers, Path: frame.Path + "/clients", Name: "Applications", Needs: members.MayManageCredentials},
	{Group: groupDevelopers, Path: frame.Path + "/keys", Name: "API keys", Needs: members.MayManageCredentials, Key: "k"},
	{Group: groupDevelopers, Path: frame.Path + "/inboxes", Name: "Inboxes", Needs: members.MayViewInbound, Key: "n"},
	{Group: groupDevelopers, Path: frame.Path + "/website", Name: "Website", Needs: members.MayManageCredentials},
	{Group: groupDevelopers, Path: frame.Path + "/git", Name: "Repository", Needs: members.MayManageOrg},
	{Group: groupDevelopers, Path: frame.Path + "/assets", Name: "Images", Needs: members.MayViewContent},
	{Group: groupDevelopers, Path: frame.Path + "/webhooks", Name: "Event webhooks", Needs: members.MayManageCredentials, Key: "w"},
	{Group: groupDevelopers, Path: frame.Path + "/verified-senders", Name: "Verified senders", Needs: members.MayViewInbound},
	{Group: groupOrganization, Path: frame.Path + "/account", Name: "Sending account", Needs: members.MayViewAccount},
	{Group: groupOrganization, Path: frame.Path + "/channels", Name: "Channels", Needs: members.MayViewSending},
	{Group: groupOrganization, Path: frame.Path + "/members", Name: "Members"},
	{Group: groupOrganization, Path: frame.Path + "/settings", Name: "Settings", Needs: members.MayManageOrg},
	{Group: groupOrganization, Path: frame.Path + "/mail-settings", Name: "Mail settings", Needs: members.MayManageOrg},
	{Group: groupOrganization, Path: frame.Path + "/mail-storage", Name: "Mail storage", Needs: members.MayManageOrg},
	{Group: groupOrganization, Path: frame.Path + "/retention", Name: "Retention", Needs: members.MayManageOrg},
	{Group: groupOrganization, Path: frame.Path + "/audit", Name: "Audit log", Needs: members.MayViewAudit},
}

// Room is a package with dashboard pages about related subjects. Routes returns the paths,
// required permissions and handlers of its pages.
type Room interface {
	Routes() []frame.Route
}

// Mount returns the handler of all pages below [frame.Path]. A room is a package with some
// of these pages. Mount panics if two pages have the same path.
func Mount(f *frame.Frame, rooms ...Room) (*http.ServeMux, error) {
	var routes []frame.Route
	for _, room := range rooms {
		routes = append(routes, room.Routes()...)
	}
	return f.Mux(routes)
}
