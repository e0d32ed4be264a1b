package contacts

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/topics"
)

// ReplaceContactIn is a whole contact. What is absent is cleared, except for the list
// memberships and the members that [Stated] keeps.
type ReplaceContactIn struct {
	Email            string         `json:"email" jsonschema:"format=idn-email,maxLength=254" jsonschema_description:"Address of the contact."`
	Attributes       map[string]any `json:"attributes,omitempty" jsonschema:"nullable" jsonschema_description:"All values by attribute name. Absent: the contact gets none."`
	TopicPreferences topics.Choices `json:"topic_preferences,omitempty" jsonschema_description:"All explicit choices. Absent: every topic gets its default, except that opt-outs of a contact that was not active stay."`
	Stated
	Lists      *lists.Names `json:"lists,omitempty" jsonschema_description:"All static lists of the contact, each by id, by key or as a read returns it. Empty: none. Absent or null: unchanged."`
	ExternalID *string      `json:"external_id,omitempty" jsonschema:"nullable,minLength=1,maxLength=255" jsonschema_description:"As a read returned it; another value is refused. Absent or null: unchanged."`
	ReadBack

	write *write
}

func (cs *Contacts) contactsReplace() core.Operation {
	return core.Declare(core.Op[ReplaceContactIn, ContactWritten]{
		Name:    "contacts_replace",
		Title:   "Create or replace a contact",
		Purpose: "Replaces the contact with this address: what the body leaves out is cleared or gets its default, except the lists, the external id and the global opt-out. Creates the contact if none exists, and activates an archived one with its opt-outs. It accepts the body that a read of the contact returned, and refuses changes of members that cannot change. To change single values use contacts_update.",
		Example: `{"email": "ada.almeida@example.com", "attributes": {"first_name": "Ada", "city": "Lisboa"}, "topic_preferences": [{"topic": "offers", "subscription_status": "OPT_OUT"}], "lists": ["newsletter"]}`,
		Effect:  core.Writes,
		Scopes:  []core.Scope{core.ContactsManage},
		Fails:   []core.Code{core.CodeAttributeValidationFailed, core.CodeContactClaimRace, core.CodeUpstreamUnavailable},
		Writes:  core.OneContact,
		Prepare: cs.prepareReplace,
		Do: func(ctx context.Context, c *core.Call, in ReplaceContactIn) (ContactWritten, error) {
			return cs.writer().store(ctx, c, in.write)
		},
	})
}

func (cs *Contacts) prepareReplace(ctx context.Context, c *core.Call, in ReplaceContactIn) (ReplaceContactIn, error) {
	read := in.ReadBack
	read.externalID = in.ExternalID
	plan := Plan{
		Way: Replacing, Claim: Claim{Email: in.Email}, Read: &read,
		Attributes: in.Attributes, Topics: in.TopicPreferences, Stated: in.Stated,
	}
	var err error
	in.write, err = cs.writer().prepare(ctx, c, plan, func(org string) (*lists.Change, error) {
		return cs.Lists.ExactChange(ctx, org, "lists", in.Lists)
	})
	return in, err
}
