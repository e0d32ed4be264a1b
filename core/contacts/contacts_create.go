package contacts

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/topics"
)

// CreateContactIn describes a new contact. Absent members get their defaults.
type CreateContactIn struct {
	Email            string         `json:"email" jsonschema:"format=idn-email,maxLength=254" jsonschema_description:"Address of the contact."`
	Attributes       map[string]any `json:"attributes,omitempty" jsonschema:"nullable" jsonschema_description:"Values by attribute name; each attribute must be registered."`
	TopicPreferences topics.Choices `json:"topic_preferences,omitempty" jsonschema_description:"Explicit choices about topics, as an array of topic and subscription_status or as an object from topic to status."`
	Stated
	Lists *lists.Directive `json:"lists,omitempty" jsonschema:"nullable" jsonschema_description:"Static lists to add the contact to."`

	write *write
}

func (cs *Contacts) contactsCreate() core.Operation {
	return core.Declare(core.Op[CreateContactIn, ContactWritten]{
		Name:    "contacts_create",
		Title:   "Create a contact",
		Purpose: "Creates one contact and refuses with `conflict` when an active contact with the address exists. An archived contact becomes active with the attributes given here and its earlier opt-outs. A contact that only the sending account or activities named gets these values. The sending account is written first.",
		Example: `{"email": "nora.quint@example.com", "attributes": {"first_name": "Nora", "orders": 1}, "topic_preferences": {"offers": "OPT_IN"}, "lists": {"add": ["newsletter"]}}`,
		Effect:  core.Writes,
		Scopes:  []core.Scope{core.ContactsManage},
		Fails:   []core.Code{core.CodeAttributeValidationFailed, core.CodeContactClaimRace, core.CodeUpstreamUnavailable},
		Writes:  core.OneContact,
		Prepare: cs.prepareCreate,
		Do: func(ctx context.Context, c *core.Call, in CreateContactIn) (ContactWritten, error) {
			written, err := cs.writer().store(ctx, c, in.write)
			// the result is "created" also for an archived contact, and for one that only a
			// sync or an activity had created
			written.Result = "created"
			return written, err
		},
	})
}

func (cs *Contacts) prepareCreate(ctx context.Context, c *core.Call, in CreateContactIn) (CreateContactIn, error) {
	plan := Plan{
		Way: Creating, Claim: Claim{Email: in.Email},
		Attributes: in.Attributes, Topics: in.TopicPreferences, Stated: in.Stated,
	}
	var err error
	in.write, err = cs.writer().prepare(ctx, c, plan, func(org string) (*lists.Change, error) {
		return cs.Lists.DirectiveChange(ctx, org, in.Lists)
	})
	return in, err
}
