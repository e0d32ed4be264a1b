package contacts

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/topics"
)

// UpsertByExternalIDIn has the changes to the contact with an external id. If no contact
// has that id, they describe the contact to create.
type UpsertByExternalIDIn struct {
	ExternalID       string         `json:"external_id" jsonschema:"minLength=1,maxLength=255" jsonschema_description:"Your own id of the person, unique in the organization. Percent-encode it in the path."`
	Email            string         `json:"email,omitempty" jsonschema:"format=idn-email,maxLength=254" jsonschema_description:"Required to create a contact. A different address replaces the contact's; if absent, the address stays."`
	Attributes       map[string]any `json:"attributes,omitempty" jsonschema:"nullable" jsonschema_description:"Values to change by attribute name; null clears one."`
	TopicPreferences topics.Choices `json:"topic_preferences,omitempty" jsonschema_description:"Choices to change; choices about other topics stay."`
	Stated
	Lists            *lists.Names `json:"lists,omitempty" jsonschema_description:"All static lists of the contact, each by id, by key or as a read returns it. Empty: none. Absent or null: unchanged."`
	RebindExternalID bool         `json:"rebind_external_id,omitempty" jsonschema_description:"Binds this external id to the address's contact even if that has another one."`
	ReadBack

	write *write
}

func (cs *Contacts) contactsUpsertByExternalID() core.Operation {
	return core.Declare(core.Op[UpsertByExternalIDIn, ContactWritten]{
		Name:  "contacts_upsert_by_external_id",
		Title: "Create or change a contact by external id",
		Purpose: "Creates the contact with this external id, or changes the given members of an existing one. " +
			"A contact with the address and without an external id gets this one. An archived contact becomes active. " +
			"It accepts the body that a read of the contact returned, like contacts_replace, but leaves absent members unchanged.",
		Example: `{"external_id": "customer-1043", "email": "milan.bakker@example.com", "attributes": {"first_name": "Milan"}, "lists": ["newsletter"]}`,
		Effect:  core.Writes,
		Scopes:  []core.Scope{core.ContactsManage},
		Fails:   []core.Code{core.CodeAttributeValidationFailed, core.CodeContactExternalIDMismatch, core.CodeContactEmailTaken, core.CodeUnknownExternalID, core.CodeContactClaimRace, core.CodeUpstreamUnavailable},
		Writes:  core.OneContact,
		Prepare: cs.prepareUpsertByExternalID,
		Do: func(ctx context.Context, c *core.Call, in UpsertByExternalIDIn) (ContactWritten, error) {
			written, err := cs.writer().store(ctx, c, in.write)
			return written, raceError(err)
		},
	})
}

func (cs *Contacts) prepareUpsertByExternalID(ctx context.Context, c *core.Call, in UpsertByExternalIDIn) (UpsertByExternalIDIn, error) {
	plan := Plan{
		Way: Upserting, Claim: Claim{Email: in.Email, ExternalID: in.ExternalID, Rebind: in.RebindExternalID}, Read: &in.ReadBack,
		Attributes: in.Attributes, Topics: in.TopicPreferences, Stated: in.Stated,
	}
	var err error
	in.write, err = cs.writer().prepare(ctx, c, plan, func(org string) (*lists.Change, error) {
		return cs.Lists.ExactChange(ctx, org, "lists", in.Lists)
	})
	return in, err
}
