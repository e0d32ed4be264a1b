package contacts

import (
	"cmp"
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// ListContactsIn selects a page of contacts. A contact must match all filters that are set.
type ListContactsIn struct {
	Status             ContactStatus        `json:"status,omitempty" jsonschema:"enum=active,enum=archived,default=active" jsonschema_description:"Active or archived contacts."`
	Topic              string               `json:"topic,omitempty" jsonschema:"maxLength=64" jsonschema_description:"Only contacts that are subscribed to this topic, by their own choice or by its default."`
	SubscriptionStatus sending.Subscription `json:"subscription_status,omitempty" jsonschema:"enum=OPT_IN,enum=OPT_OUT" jsonschema_description:"Needs topic. OPT_IN: contacts subscribed to it. OPT_OUT: contacts not subscribed, by their own choice or by the topic's default."`
	UnsubscribeAll     *bool                `json:"unsubscribe_all,omitempty" jsonschema_description:"Only contacts with the global opt-out, or only contacts without it."`
	AttributeKey       string               `json:"attribute_key,omitempty" jsonschema:"maxLength=63" jsonschema_description:"Only contacts whose attribute of this name equals attribute_value. Needs attribute_value."`
	AttributeValue     *string              `json:"attribute_value,omitempty" jsonschema:"maxLength=4096" jsonschema_description:"The attribute's value as text."`
	Limit              int                  `json:"limit,omitempty" jsonschema:"minimum=1,maximum=200,default=50" jsonschema_description:"Greatest number of items in the answer."`
	Cursor             string               `json:"cursor,omitempty" jsonschema:"maxLength=1024" jsonschema_description:"Cursor: next_cursor of the previous page."`
}

func (cs *Contacts) contactsList() core.Operation {
	return core.Declare(core.Op[ListContactsIn, core.Page[Contact]]{
		Name:    "contacts_list",
		Title:   "List contacts",
		Purpose: "Pages through the active or the archived contacts, newest first, with filters. Consent is as of the last sync with the sending account; read one contact for its current consent.",
		Example: `{"topic": "offers", "limit": 2}`,
		Effect:  core.Reads,
		Cost:    core.Heavy,
		CostOf: func(_ *core.Call, in ListContactsIn) core.Cost {
			if in.Topic != "" || in.UnsubscribeAll != nil || in.AttributeKey != "" { // no index covers these filters
				return core.Heavy
			}
			return core.Light
		},
		Scopes: []core.Scope{core.ContactsView},
		Do:     cs.listContacts,
	})
}

func (cs *Contacts) listContacts(ctx context.Context, c *core.Call, in ListContactsIn) (core.Page[Contact], error) {
	if err := in.check(); err != nil {
		return core.Page[Contact]{}, err
	}
	return core.ReadPage(in.filterText(), in.Cursor, in.Limit, func(after *core.After, limit int) ([]Contact, error) {
		page, err := cs.Store.Contacts(ctx, c.Principal.Org.ID, ContactFilter{
			Status: in.status(), Topic: in.Topic, Subscription: in.SubscriptionStatus, UnsubscribeAll: in.UnsubscribeAll,
			AttributeKey: in.AttributeKey, AttributeValue: in.AttributeValue,
			After: after, Limit: limit,
		})
		for i := range page {
			page[i] = page[i].withMailable()
		}
		return page, err
	}, func(c Contact) core.After { return core.After{At: c.CreatedAt, ID: c.ID} })
}

// check fails if one of two filters that belong together is missing: the topic of
// subscription_status, or the key or value of an attribute.
func (in ListContactsIn) check() error {
	switch {
	case in.SubscriptionStatus != "" && in.Topic == "":
		return core.Invalid("subscription_status", "needs `topic`")
	case in.AttributeKey != "" && in.AttributeValue == nil:
		return core.Invalid("attribute_key", "needs `attribute_value`")
	case in.AttributeKey == "" && in.AttributeValue != nil:
		return core.Invalid("attribute_value", "needs `attribute_key`")
	}
	return nil
}

func (in ListContactsIn) status() ContactStatus { return cmp.Or(in.Status, Active) }

// filterText returns the filters as one text. A cursor contains the digest of this text, so
// that the cursor is valid only for a list with the same filters.
func (in ListContactsIn) filterText() string {
	unsubscribed, value := "any", ""
	if in.UnsubscribeAll != nil {
		unsubscribed = fmt.Sprint(*in.UnsubscribeAll)
	}
	if in.AttributeValue != nil {
		value = *in.AttributeValue
	}
	return fmt.Sprintf("contacts %q %q %q %q %q %q", in.status(), in.Topic, in.SubscriptionStatus, unsubscribed, in.AttributeKey, value)
}
