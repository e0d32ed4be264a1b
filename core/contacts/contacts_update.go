package contacts

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/topics"
)

// UpdateContactIn has the changes to a contact, in the form of a merge patch (RFC 7396).
type UpdateContactIn struct {
	Email            string         `json:"email" jsonschema:"format=idn-email,maxLength=254" jsonschema_description:"Address of the contact."`
	Attributes       map[string]any `json:"attributes,omitempty" jsonschema:"nullable" jsonschema_description:"Values to change by attribute name; null clears one."`
	TopicPreferences topics.Choices `json:"topic_preferences,omitempty" jsonschema_description:"Choices to change; choices about other topics stay."`
	Stated
	Lists *lists.Directive `json:"lists,omitempty" jsonschema:"nullable" jsonschema_description:"Static lists to join and leave."`

	write *write
}

func (cs *Contacts) contactsUpdate() core.Operation {
	return core.Declare(core.Op[UpdateContactIn, ContactWritten]{
		Name:    "contacts_update",
		Title:   "Change a contact",
		Purpose: "Changes the given members of an active contact and leaves the others. It creates no contact and activates no archived one.",
		Example: `{"email": "ada.almeida@example.com", "attributes": {"city": "Porto", "last_name": null}, "topic_preferences": {"offers": "OPT_OUT"}}`,
		Effect:  core.Writes,
		Scopes:  []core.Scope{core.ContactsManage},
		Fails:   []core.Code{core.CodeNotFound, core.CodeAttributeValidationFailed, core.CodeContactClaimRace, core.CodeUpstreamUnavailable},
		Writes:  core.OneContact,
		Prepare: cs.prepareUpdate,
		Do: func(ctx context.Context, c *core.Call, in UpdateContactIn) (ContactWritten, error) {
			return cs.writer().store(ctx, c, in.write)
		},
	})
}

func (cs *Contacts) prepareUpdate(ctx context.Context, c *core.Call, in UpdateContactIn) (UpdateContactIn, error) {
	plan := Plan{
		Way: Updating, Claim: Claim{Email: in.Email},
		Attributes: in.Attributes, Topics: in.TopicPreferences, Stated: in.Stated,
	}
	var err error
	in.write, err = cs.writer().prepare(ctx, c, plan, func(org string) (*lists.Change, error) {
		return cs.Lists.DirectiveChange(ctx, org, in.Lists)
	})
	return in, err
}
