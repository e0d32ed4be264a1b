package contacts

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/topics"
)

// UpsertContactIn has the address, the external id or both of a contact, and the changes to
// it.
type UpsertContactIn struct {
	Email            string         `json:"email,omitempty" jsonschema:"format=idn-email,maxLength=254" jsonschema_description:"Address, such as ada@example.com. Required to create a contact. With the external_id of a contact, its new address."`
	ExternalID       string         `json:"external_id,omitempty" jsonschema:"minLength=1,maxLength=255" jsonschema_description:"Your own id of the person, such as customer-1042. Finds a contact, or is given to the one with this email."`
	Attributes       map[string]any `json:"attributes,omitempty" jsonschema_description:"Values to change by name, such as {\"city\": \"Graz\", \"orders\": 3}; null clears one, absent ones stay. audience_get_schema has names and types."`
	TopicPreferences topics.Choices `json:"topic_preferences,omitempty" jsonschema_description:"Choices to change, by topic name: {\"offers\": \"OPT_OUT\"}, or as an array. Other choices stay."`
	Stated
	IssueVisitorID bool `json:"issue_visitor_id,omitempty" jsonschema_description:"true issues a visitor id, which recognizes the contact on your website, if there is none. Default: false."`

	write *write
}

// Upserted is the result of a write to one contact, as an agent gets it.
type Upserted struct {
	Contact      Contact `json:"contact"`
	Result       string  `json:"result" jsonschema:"enum=created,enum=updated,enum=reactivated"`
	VisitorID    string  `json:"visitor_id,omitempty" voice:"ours" jsonschema_description:"Recognizes the contact on your website. Treat it as a credential."`
	MailableNote string  `json:"mailable_note" voice:"ours" jsonschema_description:"Whether mail may be sent to the contact, and why not."`
}

// AgentView returns the result for agents, with a sentence on whether the contact is
// mailable.
func (w ContactWritten) AgentView() Upserted {
	return Upserted{Contact: w.Contact, Result: w.Result, VisitorID: w.VisitorID, MailableNote: w.Contact.MailableNote()}
}

func (cs *Contacts) contactsUpsert() core.Operation {
	return core.Declare(core.Op[UpsertContactIn, ContactWritten]{
		Name:  "contacts_upsert",
		Title: "Create or change a contact",
		Purpose: "Creates a contact, or changes the given members of one. Use it to set attributes or record topic choices; " +
			"audience_get_schema has the names. Returns the contact and whether it was created or updated. " +
			"It sends no mail and does not change lists.",
		Example: `{"email": "noor.visser@example.com", "external_id": "customer-1042", "attributes": {"first_name": "Noor", "orders": 1}, "topic_preferences": {"offers": "OPT_IN"}}`,
		Effect:  core.Writes,
		Scopes:  []core.Scope{core.ContactsManage},
		Fails:   []core.Code{core.CodeAttributeValidationFailed, core.CodeContactExternalIDMismatch, core.CodeContactEmailTaken, core.CodeUnknownExternalID, core.CodeContactClaimRace, core.CodeUpstreamUnavailable},
		Writes:  core.OneContact,
		Replay:  core.ReplayUntilNextWrite,
		Prepare: cs.prepareUpsert,
		Do:      cs.upsert,
		Recall:  cs.recallVisitorID,
	})
}

func (cs *Contacts) prepareUpsert(ctx context.Context, c *core.Call, in UpsertContactIn) (UpsertContactIn, error) {
	if in.Email == "" && in.ExternalID == "" {
		return in, core.Invalid("email", "or `external_id` is required")
	}
	plan := Plan{
		Way: Upserting, Claim: Claim{Email: in.Email, ExternalID: in.ExternalID, Bound: true},
		Attributes: in.Attributes, Topics: in.TopicPreferences, Stated: in.Stated,
	}
	var err error
	in.write, err = cs.writer().prepare(ctx, c, plan, nil)
	return in, err
}

func (cs *Contacts) upsert(ctx context.Context, c *core.Call, in UpsertContactIn) (ContactWritten, error) {
	written, err := cs.writer().store(ctx, c, in.write)
	if err != nil {
		return ContactWritten{}, raceError(err)
	}
	show := cs.VisitorIDs.Current
	if in.IssueVisitorID {
		show = func(ctx context.Context, org, contactID string) (string, error) {
			return cs.VisitorIDs.Issue(ctx, org, contactID, c.Now)
		}
	}
	written.VisitorID, err = show(ctx, c.Principal.Org.ID, written.Contact.ID)
	return written, err
}

// recallVisitorID adds the contact's current visitor id to the stored result that a repeated
// call gets.
func (cs *Contacts) recallVisitorID(ctx context.Context, c *core.Call, written ContactWritten) (ContactWritten, error) {
	var err error
	written.VisitorID, err = cs.VisitorIDs.Current(ctx, c.Principal.Org.ID, written.Contact.ID)
	return written, err
}
