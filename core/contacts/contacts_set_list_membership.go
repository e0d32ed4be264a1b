package contacts

import (
	"context"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/lists"
)

// SetListMembershipIn has a contact, the lists that it joins and the lists that it leaves.
type SetListMembershipIn struct {
	Contact string   `json:"contact" jsonschema:"minLength=1,maxLength=255" jsonschema_description:"Contact id (UUID), address or external id of one contact."`
	Add     []string `json:"add,omitempty" jsonschema:"maxItems=200" jsonschema_description:"Lists to join, each by id or key, such as tasting-club."`
	Remove  []string `json:"remove,omitempty" jsonschema:"maxItems=200" jsonschema_description:"Lists to leave, in the same form. Send add, remove or both."`

	edit *lists.Change
}

// ListsOfContact has the lists that a contact is on.
type ListsOfContact struct {
	Lists []lists.Ref `json:"lists"`
}

// SetListMembership returns the operation contacts_set_list_membership. It is not in
// Operations, because the documentation lists it after the bulk writes.
func (cs *Contacts) SetListMembership() core.Operation {
	return core.Declare(core.Op[SetListMembershipIn, ListsOfContact]{
		Name:  "contacts_set_list_membership",
		Title: "Set a contact's lists",
		Purpose: "Adds one contact to lists and removes it from others. Use it after contacts_lookup and lists_list. " +
			"Returns all lists of the contact. It creates no list and does not change consent or segments.",
		Example: `{"contact": "ada.almeida@example.com", "add": ["tasting-club"], "remove": ["app-testers"]}`,
		Effect:  core.Writes,
		Scopes:  []core.Scope{core.ContactsManage, core.ListsView},
		Fails:   []core.Code{core.CodeNotFound},
		Writes:  core.OneContact,
		Replay:  core.ReplayUntilNextWrite,
		Prepare: func(ctx context.Context, c *core.Call, in SetListMembershipIn) (SetListMembershipIn, error) {
			var err error
			in.edit, err = cs.Lists.AddAndRemove(ctx, c.Principal.Org.ID, "", in.Add, in.Remove)
			return in, err
		},
		Do: cs.setListMembership,
	})
}

func (cs *Contacts) setListMembership(ctx context.Context, c *core.Call, in SetListMembershipIn) (ListsOfContact, error) {
	org := c.Principal.Org.ID
	contact, err := contactByName(ctx, cs.Store, org, in.Contact)
	if err != nil {
		return ListsOfContact{}, err
	}
	if len(in.Add)+len(in.Remove) == 0 {
		return ListsOfContact{}, core.Invalid("add", "or `remove` is required")
	}
	if contact.Status == Archived {
		return ListsOfContact{}, core.Conflict("The contact is archived, and archived contacts are on no list.", "Reactivate it with contacts_upsert first.")
	}
	c.SetSubject(contact.ID)
	if contact.Shell { // UpdateContact clears Shell, because a caller has now written the contact.
		if err := cs.Store.UpdateContact(ctx, org, contact); err != nil {
			return ListsOfContact{}, err
		}
	}
	on, err := cs.Lists.ApplyChange(ctx, org, contact.ID, contact.Lists, in.edit)
	if err != nil {
		return ListsOfContact{}, err
	}
	return ListsOfContact{Lists: on}, cs.reportChanged(ctx, org, contact.ID)
}

// contactByName returns the contact with this contact id, address or external id. If
// several contacts match, the contact id takes precedence, then the address. It fails with
// core.CodeNotFound if no contact matches.
func contactByName(ctx context.Context, store Store, org, name string) (Contact, error) {
	finders := []func(context.Context, string, string) (Contact, error){store.ContactByExternalID}
	if strings.Contains(name, "@") {
		finders = append([]func(context.Context, string, string) (Contact, error){store.ContactByEmail}, finders...)
	}
	if core.IsID(name) {
		finders = append([]func(context.Context, string, string) (Contact, error){store.ContactByID}, finders...)
	}
	for _, find := range finders {
		if c, err := find(ctx, org, name); !core.IsNotFound(err) {
			return c, err
		}
	}
	return Contact{}, core.NotFound("contact")
}
