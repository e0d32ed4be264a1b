package audience

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/topics"
)

// CreateContactIn is a new contact. Members that are left out take their defaults.
type CreateContactIn struct {
	Email            string          `json:"email" jsonschema:"format=idn-email,maxLength=254" jsonschema_description:"Address of the contact."`
	Attributes       map[string]any  `json:"attributes,omitempty" jsonschema:"nullable" jsonschema_description:"Values by attribute name; each must be in the attribute registry."`
	TopicPreferences topics.Choices  `json:"topic_preferences,omitempty" jsonschema_description:"Explicit choices about topics, as an array of topic and subscription_status or as an object from topic to status."`
	UnsubscribeAll   *bool           `json:"unsubscribe_all,omitempty" jsonschema:"nullable" jsonschema_description:"Opt out of everything. Left out or null: untouched."`
	Lists            *ListsDirective `json:"lists,omitempty" jsonschema:"nullable" jsonschema_description:"Static lists to put the contact on."`

	write *contactWrite
}

func (a *Audience) contactsCreate() core.Operation {
	return core.Declare(core.Op[CreateContactIn, ContactWritten]{
		Name:    "contacts_create",
		Title:   "Create a contact",
		Purpose: "Creates one contact and refuses with `conflict` when an active contact with the address exists. An archived contact is taken back into use with the attributes given here and the opt-outs it left with, and one that so far only the sending account or activities knew is filled. The sending account is written first.",
		Effect:  core.Writes,
		Scopes:  []core.Scope{core.ContactsManage},
		Writes:  core.OneContact,
		Prepare: a.prepareCreate,
		Do: func(ctx context.Context, c *core.Call, in CreateContactIn) (ContactWritten, error) {
			written, err := a.store(ctx, c, in.write)
			written.Result = "created" // also of a shell or an archived contact: it is what the caller asked for
			return written, err
		},
	})
}

func (a *Audience) prepareCreate(ctx context.Context, c *core.Call, in CreateContactIn) (CreateContactIn, error) {
	org := c.Principal.Org.ID
	find := func(ctx context.Context) (Contact, error) { return a.Store.ContactByEmail(ctx, org, in.Email) }
	attributes, err := a.checkContact(ctx, org, find, in.Attributes, in.TopicPreferences)
	if err != nil {
		return in, err
	}
	lists, err := a.directed(ctx, org, in.Lists)
	if err != nil {
		return in, err
	}
	in.write = &contactWrite{
		find:      find,
		addresses: []string{in.Email},
		decide:    decideConsent(in.UnsubscribeAll, newTopics(in.TopicPreferences)),
		states:    true,
		lists:     lists,
		edit: func(existing *Contact) (Contact, error) {
			if existing == nil {
				return Contact{Email: addressed(in.Email)}.withOnlyAttributes(attributes), nil
			}
			if existing.Status == Active && !existing.Shell && !existing.Stub {
				return Contact{}, core.Conflict("A contact with this address exists.", "Use PATCH to change it or PUT to replace it.")
			}
			back := *existing
			back.Email = addressed(in.Email)
			return back.withOnlyAttributes(attributes), nil
		},
	}
	return in, a.push(ctx, c, in.write)
}

// checkContact checks what every contact write carries: attributes against the
// registry, choices against the account's topics. A value that the registry does not
// take any more passes where the contact that find finds has it: what was read may be
// written back.
func (a *Audience) checkContact(ctx context.Context, org string, find func(context.Context) (Contact, error), attributes map[string]any, choices topics.Choices) (map[string]any, error) {
	if len(attributes) > 0 {
		r, err := a.readRegistry(ctx, org)
		if err != nil {
			return nil, err
		}
		coerced, err := r.Coerce(attributes, nil)
		if err != nil {
			if held, errFind := find(ctx); errFind == nil {
				coerced, err = r.Coerce(attributes, held.Attributes)
			}
		}
		if err != nil {
			return nil, err
		}
		attributes = coerced
	}
	return attributes, a.knownTopics(ctx, org, choices)
}
