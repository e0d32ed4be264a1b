package topics

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// ContactListView is the sending account's contact list as of the last sync, with the
// numbers of contacts and topics in Mailhelm's copy.
type ContactListView struct {
	Name         string    `json:"name" voice:"untrusted"`
	Description  string    `json:"description" voice:"untrusted"`
	ContactCount int       `json:"contact_count" jsonschema_description:"Active contacts, without contacts that only activities named."`
	TopicCount   int       `json:"topic_count"`
	Topics       []Topic   `json:"topics"`
	LastSyncedAt time.Time `json:"last_synced_at"`
	CreatedAt    time.Time `json:"created_at" jsonschema_description:"When the sync first found the list."`
	UpdatedAt    time.Time `json:"updated_at" jsonschema_description:"When the sending account last changed it."`
}

// GetContactListIn has no fields.
type GetContactListIn struct{}

func (t *Topics) contactListGet() core.Operation {
	return core.Declare(core.Op[GetContactListIn, ContactListView]{
		Name:    "contact_list_get",
		Title:   "Describe the contact list",
		Purpose: "Reads the sending account's contact list as of the last sync, with the numbers of contacts and topics. It does not call the account.",
		Effect:  core.Reads,
		Cost:    core.Heavy,
		Scopes:  []core.Scope{core.TopicsView},
		Fails:   []core.Code{core.CodeContactListNotSynced},
		Do:      t.getContactList,
	})
}

func (t *Topics) getContactList(ctx context.Context, c *core.Call, _ GetContactListIn) (ContactListView, error) {
	org := c.Principal.Org.ID
	list, err := t.Store.ContactList(ctx, org)
	if err != nil {
		return ContactListView{}, err
	}
	view := ContactListView{
		Name: list.Name, Description: list.Description, LastSyncedAt: list.LastSyncedAt, CreatedAt: list.CreatedAt, UpdatedAt: list.UpdatedAt,
	}
	if view.Topics, err = t.Store.Topics(ctx, org); err != nil {
		return ContactListView{}, err
	}
	view.TopicCount = len(view.Topics)
	view.ContactCount, err = t.Contacts.CountContacts(ctx, org)
	return view, err
}
