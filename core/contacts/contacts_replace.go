package contacts

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/topics"
)

// ReplaceContactIn is the whole of a contact. Absent members are cleared, except for the
// global opt-out and list membership, which stay.
type ReplaceContactIn struct {
	Email            string         `json:"email" jsonschema:"format=idn-email,maxLength=254" jsonschema_description:"Address of the contact."`
	Attributes       map[string]any `json:"attributes,omitempty" jsonschema:"nullable" jsonschema_description:"All values by attribute name. Left out: the contact has none."`
	TopicPreferences topics.Choices `json:"topic_preferences,omitempty" jsonschema_description:"All explicit choices. Left out: every topic follows its default; opt-outs of a contact that was not in use hold."`
	Stated
	Lists      *lists.Names `json:"lists,omitempty" jsonschema_description:"Exactly the static lists to be on, each by id, by key or as a read shows it. Empty: none. Left out or null: untouched."`
	ExternalID *string      `json:"external_id,omitempty" jsonschema:"nullable,minLength=1,maxLength=255" jsonschema_description:"As a read showed it; another one is refused. Left out or null: untouched."`
	ReadBack

	write *write
}

func (cs *Contacts) contactsReplace() core.Operation {
	return core.Declare(core.Op[ReplaceContactIn, ContactWritten]{
		Name:    "contacts_replace",
		Title:   "Create or replace a contact",
		Purpose: "Makes the contact with this address exactly what is sent: attributes that are left out are wiped and topics revert to their defaults. Creates the contact when there is none and takes an archived one back into use, with its opt-outs. It takes the body that a read of the contact returned, changed or not, and refuses by name what it cannot change. To change single values use contacts_update.",
		Effect:  core.Writes,
		Scopes:  []core.Scope{core.ContactsManage},
		Writes:  core.OneContact,
		Prepare: cs.prepareReplace,
		Do: func(ctx context.Context, c *core.Call, in ReplaceContactIn) (ContactWritten, error) {
			return cs.writer().store(ctx, c, in.write)
		},
	})
}

func (cs *Contacts) prepareReplace(ctx context.Context, c *core.Call, in ReplaceContactIn) (ReplaceContactIn, error) {
	org := c.Principal.Org.ID
	read := in.ReadBack
	read.externalID = in.ExternalID
	plan := Plan{
		Way: Replacing, Claim: Claim{Email: in.Email}, Read: &read,
		Attributes: in.Attributes, Topics: in.TopicPreferences, Stated: in.Stated,
	}
	if err := cs.writer().checkPlan(ctx, org, &plan); err != nil {
		return in, err
	}
	var err error
	if plan.Lists, err = cs.Lists.ExactChange(ctx, org, "lists", in.Lists); err != nil {
		return in, err
	}
	in.write = &write{Plan: plan}
	return in, cs.writer().push(ctx, c, in.write)
}
