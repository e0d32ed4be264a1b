package members

import (
	"slices"

	"github.com/mailhelm/mailhelm/core"
)

// Permission allows a member of an organization one kind of action. A person's token has at
// most the scopes that the person's permissions cover at the time of the call.
type Permission string

// All permissions, by area.
const (
	MayViewAccount          Permission = "account.view"
	MayViewAnalytics        Permission = "analytics.view"
	MaySearchRecipients     Permission = "analytics.search.recipients"
	MayViewSuppression      Permission = "suppression.view"
	MayManageSuppression    Permission = "suppression.manage"
	MayViewUndeliverable    Permission = "undeliverable.view"
	MayManageUndeliverable  Permission = "undeliverable.manage"
	MayConfigureUndelivered Permission = "undeliverable.configure"
	MayViewSending          Permission = "sending.view" // identities, channels, tracking domains
	MayAdoptChannels        Permission = "channels.adopt"
	MayTriggerSync          Permission = "sync.trigger"
	MayViewProduction       Permission = "ses.production_access.view"
	MaySubmitProduction     Permission = "ses.production_access.submit"
	MayViewContent          Permission = "content.view" // templates, assets, tags
	MayManageContent        Permission = "content.manage"
	MayTestContent          Permission = "content.test"
	MayViewContacts         Permission = "contacts.view"
	MayManageContacts       Permission = "contacts.manage"
	MayManagePersons        Permission = "persons.manage" // no scope covers it, so no token has it
	MayViewLists            Permission = "lists.view"
	MayManageLists          Permission = "lists.manage"
	MayViewSegments         Permission = "segments.view"
	MayManageSegments       Permission = "segments.manage"
	MayManageAttributes     Permission = "attributes.manage"
	MayViewActivities       Permission = "activities.view"
	MayWriteActivities      Permission = "activities.write"
	MayViewCampaigns        Permission = "campaigns.view" // broadcasts and workflows
	MayManageCampaigns      Permission = "campaigns.manage"
	MayApproveSends         Permission = "campaigns.approve" // no scope covers it, so no token has it
	MayViewInbound          Permission = "inbound.view"      // inboxes and received mail
	MayManageInbound        Permission = "inbound.manage"
	MayViewDomainAuth       Permission = "domain_auth.view"
	MayManageDomainAuth     Permission = "domain_auth.manage"
	MayManageCredentials    Permission = "credentials.manage" // API keys, clients, grants
	MayManageMembers        Permission = "members.manage"
	MayManageOrg            Permission = "org.manage"
	MayViewAudit            Permission = "audit.view"
)

// permissionOf maps each scope to the permission that a member needs in order to give it to
// a token. A test checks that every scope has one.
var permissionOf = map[core.Scope]Permission{
	core.AccountView:       MayViewAccount,
	core.MessagesView:      MayViewAnalytics,
	core.MessagesUnmask:    MaySearchRecipients,
	core.ReportsView:       MayViewAnalytics,
	core.SuppressionsView:  MayViewSuppression,
	core.UndeliverableView: MayViewUndeliverable,
	core.IdentitiesView:    MayViewSending,
	core.ChannelsView:      MayViewSending,
	core.TrackingView:      MayViewSending,
	core.TemplatesView:     MayViewContent,
	core.TemplatesManage:   MayManageContent,
	core.TemplatesTest:     MayTestContent,
	core.AssetsView:        MayViewContent,
	core.AssetsManage:      MayManageContent,
	core.TagsView:          MayViewContent,
	core.ContactsView:      MayViewContacts,
	core.ContactsManage:    MayManageContacts,
	core.TopicsView:        MayViewContacts,
	core.TopicsManage:      MayManageContacts,
	core.ListsView:         MayViewLists,
	core.ListsManage:       MayManageLists,
	core.SegmentsView:      MayViewSegments,
	core.SegmentsManage:    MayManageSegments,
	core.AttributesView:    MayViewContacts,
	core.AttributesManage:  MayManageAttributes,
	core.ActivitiesView:    MayViewActivities,
	core.ActivitiesWrite:   MayWriteActivities,
	core.ActivitiesManage:  MayManageAttributes,
	core.BroadcastsView:    MayViewCampaigns,
	core.BroadcastsManage:  MayManageCampaigns,
	core.WorkflowsView:     MayViewCampaigns,
	core.WorkflowsManage:   MayManageCampaigns,
	core.InboxesView:       MayViewInbound,
	core.InboxesManage:     MayManageInbound,
	core.InboundView:       MayViewInbound,
	core.InboundManage:     MayManageInbound,
	core.DomainAuthView:    MayViewDomainAuth,
	core.DomainAuthManage:  MayManageDomainAuth,
}

// PermissionFor returns the permission that covers a scope, or "" for an unknown scope.
func PermissionFor(s core.Scope) Permission { return permissionOf[s] }

// AllPermissions returns all permissions, sorted.
func AllPermissions() []Permission { return slices.Clone(permissions) }

var permissions = sortPermissions(
	MayViewAccount, MayViewAnalytics, MaySearchRecipients, MayViewSuppression, MayManageSuppression,
	MayViewUndeliverable, MayManageUndeliverable, MayConfigureUndelivered, MayViewSending, MayAdoptChannels,
	MayTriggerSync, MayViewProduction, MaySubmitProduction, MayViewContent, MayManageContent, MayTestContent,
	MayViewContacts, MayManageContacts, MayManagePersons, MayViewLists, MayManageLists, MayViewSegments, MayManageSegments,
	MayManageAttributes, MayViewActivities, MayWriteActivities, MayViewCampaigns, MayManageCampaigns, MayApproveSends,
	MayViewInbound, MayManageInbound, MayViewDomainAuth, MayManageDomainAuth, MayManageCredentials,
	MayManageMembers, MayManageOrg, MayViewAudit,
)

func sortPermissions(list ...Permission) []Permission {
	slices.Sort(list)
	return list
}

// Role determines how a member gets permissions.
type Role string

// The roles. An owner has every permission, including those of later versions. A plain
// member has the permissions in [Member].Permissions.
const (
	Owner       Role = "owner"
	PlainMember Role = "member"
)

// Member is the membership of a user in an organization.
type Member struct {
	OrgID       string
	UserID      string
	Role        Role
	Permissions []Permission // permissions of a plain member; not used for an owner, who has all
}

// Has reports whether the member has the permission.
func (m Member) Has(p Permission) bool {
	return m.Role == Owner || slices.Contains(m.Permissions, p)
}

// Scopes returns the scopes that the member's permissions cover. A token that acts for the
// member has no other scopes.
func (m Member) Scopes() core.Scopes {
	var names []string
	for scope, permission := range permissionOf {
		if m.Has(permission) {
			names = append(names, string(scope))
		}
	}
	return core.NewScopes(names...)
}
