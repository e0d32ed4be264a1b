package members

// PermissionArea is a group of permissions under one heading of a page.
type PermissionArea struct {
	Name        string
	Permissions []PermissionWords
}

// PermissionWords says what a permission allows, as an imperative sentence.
type PermissionWords struct {
	Permission Permission
	Words      string
}

// PermissionAreas returns all permissions with their descriptions, in the order in which
// pages show them. A test checks that it contains each permission once.
func PermissionAreas() []PermissionArea { return permissionAreas }

var permissionAreas = []PermissionArea{
	{"Sending account", []PermissionWords{
		{MayViewAccount, "See the sending account: its state, quota and health."},
		{MayViewSending, "See identities, channels and tracking domains."},
		{MayAdoptChannels, "Adopt channels of the sending account."},
		{MayTriggerSync, "Start a sync with the sending account."},
		{MayViewProduction, "See the status of requests for production access."},
		{MaySubmitProduction, "Request production access."},
		{MayViewDomainAuth, "See DMARC reports: who sends in the name of the domains."},
		{MayManageDomainAuth, "Decide about the senders in DMARC reports, and write notes about domains."},
	}},
	{"Messages and reports", []PermissionWords{
		{MayViewAnalytics, "See messages, events and reports, with masked recipients."},
		{MaySearchRecipients, "Search messages by recipient and see whole addresses."},
		{MayViewActivities, "See what contacts did."},
		{MayWriteActivities, "Record what contacts did."},
	}},
	{"Suppressed and undeliverable addresses", []PermissionWords{
		{MayViewSuppression, "See suppressed addresses."},
		{MayManageSuppression, "Suppress addresses, and release them."},
		{MayViewUndeliverable, "See undeliverable addresses."},
		{MayManageUndeliverable, "Mark addresses as undeliverable, and remove the mark."},
		{MayConfigureUndelivered, "Change the rules of undeliverable addresses."},
	}},
	{"Contacts", []PermissionWords{
		{MayViewContacts, "See contacts, topics and attributes."},
		{MayManageContacts, "Add, change and archive contacts, and manage topics."},
		{MayManagePersons, "Export and erase all data of a person, with a second factor. No token gets this permission."},
		{MayManageAttributes, "Define attributes and activities."},
		{MayViewLists, "See lists."},
		{MayManageLists, "Add, change and delete lists."},
		{MayViewSegments, "See segments."},
		{MayManageSegments, "Add, change and delete segments."},
	}},
	{"Content and campaigns", []PermissionWords{
		{MayViewContent, "See templates."},
		{MayManageContent, "Change templates, assets and tags."},
		{MayTestContent, "Send a template to a test address."},
		{MayViewCampaigns, "See broadcasts and workflows."},
		{MayManageCampaigns, "Change, start and stop broadcasts and workflows, and stop all mail."},
		{MayApproveSends, "Approve and reject sends that applications and API keys ask for. No token gets this permission."},
	}},
	{"Received mail", []PermissionWords{
		{MayViewInbound, "See inboxes and received mail."},
		{MayManageInbound, "Create and delete inboxes, and choose where their mail goes."},
	}},
	{"Organization", []PermissionWords{
		{MayManageCredentials, "Create and revoke API keys and applications, and revoke the access that people granted."},
		{MayManageMembers, "Invite and remove members, and give permissions that you have yourself."},
		{MayManageOrg, "Change the organization's settings."},
		{MayViewAudit, "Read the audit log."},
	}},
}
