package core

// Scope is the name of one permission of a credential.
type Scope string

// All scopes. A credential can have no other scope.
const (
	AccountView       Scope = "api.account.view"
	MessagesView      Scope = "api.messages.view"
	MessagesUnmask    Scope = "api.messages.unmask_recipients"
	ReportsView       Scope = "api.reports.view"
	SuppressionsView  Scope = "api.suppressions.view"
	UndeliverableView Scope = "api.undeliverable.view"
	IdentitiesView    Scope = "api.identities.view"
	TemplatesView     Scope = "api.templates.view"
	TemplatesManage   Scope = "api.templates.manage"
	TemplatesTest     Scope = "api.templates.test"
	ChannelsView      Scope = "api.channels.view"
	TrackingView      Scope = "api.tracking.view"
	ContactsView      Scope = "api.contacts.view"
	ContactsManage    Scope = "api.contacts.manage"
	TopicsView        Scope = "api.topics.view"
	TopicsManage      Scope = "api.topics.manage"
	ListsView         Scope = "api.lists.view"
	ListsManage       Scope = "api.lists.manage"
	SegmentsView      Scope = "api.segments.view"
	SegmentsManage    Scope = "api.segments.manage"
	BroadcastsView    Scope = "api.broadcasts.view"
	BroadcastsManage  Scope = "api.broadcasts.manage"
	AttributesView    Scope = "api.attributes.view"
	AttributesManage  Scope = "api.attributes.manage"
	ActivitiesView    Scope = "api.activities.view"
	ActivitiesWrite   Scope = "api.activities.write"
	ActivitiesManage  Scope = "api.activities.manage"
	AssetsView        Scope = "api.assets.view"
	AssetsManage      Scope = "api.assets.manage"
	TagsView          Scope = "api.tags.view"
	WorkflowsView     Scope = "api.workflows.view"
	WorkflowsManage   Scope = "api.workflows.manage"
	InboxesView       Scope = "api.inboxes.view"
	InboxesManage     Scope = "api.inboxes.manage"
	InboundView       Scope = "api.inbound.view"
	InboundManage     Scope = "api.inbound.manage"
	DomainAuthView    Scope = "api.domain_auth.view"
	DomainAuthManage  Scope = "api.domain_auth.manage"
)

// ScopeInfo describes what a scope permits, and how sensitive the permitted actions are.
// Consent pages, documentation and OpenAPI show it.
type ScopeInfo struct {
	Scope       Scope
	Description string
	// Personal is true if the scope permits reading personal data unmasked.
	Personal bool
}

var scopeCatalogue = []ScopeInfo{
	{AccountView, "See the connected sending account, its quota and the plan.", false},
	{MessagesView, "See sent messages and their events, with recipients masked.", false},
	{MessagesUnmask, "See recipients of messages in full and look messages up by recipient.", true},
	{ReportsView, "See delivery, engagement and template reports.", false},
	{SuppressionsView, "See suppressed addresses: the sending account sends nothing to them.", true},
	{UndeliverableView, "See addresses that Mailhelm judges undeliverable, and why.", true},
	{IdentitiesView, "See sending domains and addresses.", false},
	{TemplatesView, "See templates.", false},
	{TemplatesManage, "Write templates.", false},
	{TemplatesTest, "Send templates to named test addresses.", false},
	{ChannelsView, "See sending channels.", false},
	{TrackingView, "See tracking domains and their DNS state.", false},
	{ContactsView, "See contacts with their addresses and attributes in full.", true},
	{ContactsManage, "Create, change and archive contacts.", true},
	{TopicsView, "See subscription topics and the contact list.", false},
	{TopicsManage, "Create, change and delete subscription topics.", false},
	{ListsView, "See lists and their members.", true},
	{ListsManage, "Create, change and delete lists.", false},
	{SegmentsView, "See segments and their members, and preview predicates.", true},
	{SegmentsManage, "Create and change segments by import.", false},
	{BroadcastsView, "See broadcasts and their results.", true},
	{BroadcastsManage, "Write, send, test and delete broadcasts.", true},
	{AttributesView, "See the attribute registry.", false},
	{AttributesManage, "Create, change and delete attributes.", false},
	{ActivitiesView, "See what contacts did.", true},
	{ActivitiesWrite, "Record what contacts did.", true},
	{ActivitiesManage, "Define which properties of activities can be filtered on.", false},
	{AssetsView, "See images.", false},
	{AssetsManage, "Import images.", false},
	{TagsView, "See tags and filter by them.", false},
	{WorkflowsView, "See workflows and their runs, and try them without sending.", false},
	{WorkflowsManage, "Write and activate workflows.", false},
	{InboxesView, "Read temporary inboxes and verified senders.", true},
	{InboxesManage, "Open and close temporary inboxes, verify senders.", true},
	{InboundView, "See receiving domains and the log of received mail.", true},
	{InboundManage, "Change receiving domains, addresses and the webhook.", false},
	{DomainAuthView, "See DMARC analysis.", false},
	{DomainAuthManage, "Decide about DMARC sources and keep notes.", false},
}

var scopesByName = func() map[Scope]ScopeInfo {
	m := make(map[Scope]ScopeInfo, len(scopeCatalogue))
	for _, info := range scopeCatalogue {
		m[info.Scope] = info
	}
	return m
}()

// ScopeCatalogue returns all scopes in the order of the documentation.
func ScopeCatalogue() []ScopeInfo {
	return append([]ScopeInfo(nil), scopeCatalogue...)
}

// AllScopes returns the set of all scopes.
func AllScopes() Scopes {
	names := make([]string, len(scopeCatalogue))
	for i, info := range scopeCatalogue {
		names[i] = string(info.Scope)
	}
	return NewScopes(names...)
}

// IsKnown reports whether Mailhelm defines the scope.
func (s Scope) IsKnown() bool {
	_, ok := scopesByName[s]
	return ok
}
