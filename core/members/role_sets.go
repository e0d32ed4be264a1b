package members

import (
	"slices"

	"github.com/mailhelm/mailhelm/core"
)

// RoleSet is a named set of permissions. It is a starting point and is not stored.
type RoleSet struct {
	Name        string // identifier, such as "marketer"
	Title       string
	Words       string // what a member with the role can do
	Permissions []Permission
}

// RoleSets returns the named sets of permissions, the smallest first.
func RoleSets() []RoleSet {
	return []RoleSet{
		{"viewer", "Viewer", "Sees everything but whole addresses of recipients, and changes nothing.", viewing()},
		{"marketer", "Marketer", "Changes contacts, lists and segments, and sees whole addresses of recipients.", marketing()},
		{"developer", "Developer", "Defines attributes, records activities, and manages keys, applications and the sending account.", developing()},
		{"owner", "Owner", "Has every permission that exists now.", AllPermissions()},
	}
}

// RoleSetOf returns the set with this name, or false if there is none.
func RoleSetOf(name string) (RoleSet, bool) {
	for _, set := range RoleSets() {
		if set.Name == name {
			return set, true
		}
	}
	return RoleSet{}, false
}

// viewing returns the permissions that only read.
func viewing() []Permission {
	return []Permission{
		MayViewAccount, MayViewAnalytics, MayViewSuppression, MayViewUndeliverable, MayViewSending, MayViewProduction, MayViewContent,
		MayViewContacts, MayViewLists, MayViewSegments, MayViewActivities, MayViewCampaigns, MayViewInbound, MayViewDomainAuth,
	}
}

// marketing returns the permissions of a person who writes to contacts.
func marketing() []Permission {
	return slices.Concat(viewing(), []Permission{
		MaySearchRecipients, MayManageSuppression, MayManageUndeliverable, MayManageContent, MayTestContent, MayManageContacts,
		MayManageLists, MayManageSegments, MayManageCampaigns, MayApproveSends,
	})
}

// developing returns the permissions of a person who connects programs and domains.
func developing() []Permission {
	return slices.Concat(viewing(), []Permission{
		MaySearchRecipients, MayConfigureUndelivered, MayAdoptChannels, MayTriggerSync, MaySubmitProduction, MayManageContent, MayTestContent,
		MayManageContacts, MayManageLists, MayManageSegments, MayManageAttributes, MayWriteActivities, MayManageInbound,
		MayManageDomainAuth, MayManageCredentials, MayViewAudit,
	})
}

// Scopes returns the scopes that the permissions of the set cover.
func (s RoleSet) Scopes() core.Scopes {
	return Member{Role: PlainMember, Permissions: s.Permissions}.Scopes()
}
