package outgoing

import (
	"context"
	"maps"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/lists"
)

// WorkflowContacts changes contacts for steps of workflows; it is a [runner.Contacts].
type WorkflowContacts struct {
	Contacts contacts.Store
	Lists    lists.Store
	Members  lists.MemberStore
	// Changed is called with contacts that have changed, in the transaction of the change.
	Changed func(ctx context.Context, orgID string, contactIDs []string) error
	Clock   core.Clock
}

// SetAttributes sets attributes of an active contact.
func (w WorkflowContacts) SetAttributes(ctx context.Context, orgID, contactID string, values map[string]any) error {
	found, err := w.Contacts.ContactByID(ctx, orgID, contactID)
	if core.IsNotFound(err) || err == nil && found.Status != contacts.Active {
		return nil
	}
	if err != nil {
		return err
	}
	changed := maps.Clone(found.Attributes)
	if changed == nil {
		changed = map[string]any{}
	}
	maps.Copy(changed, values)
	found.Attributes, found.UpdatedAt = changed, w.Clock()
	if err := w.Contacts.UpdateContact(ctx, orgID, found); err != nil {
		return err
	}
	return w.Changed(ctx, orgID, []string{contactID})
}

// AddToLists adds a contact to lists.
func (w WorkflowContacts) AddToLists(ctx context.Context, orgID, contactID string, listIDs []string) error {
	found, err := w.Lists.ListsByRef(ctx, orgID, listIDs)
	if err != nil {
		return err
	}
	ids := make([]string, len(found))
	for i, l := range found {
		ids[i] = l.ID
	}
	_, joined, err := w.Members.ChangeMembership(ctx, orgID, contactID, ids, nil, w.Clock())
	if err != nil || len(joined) == 0 {
		return err
	}
	return w.Changed(ctx, orgID, []string{contactID})
}
