package audience

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// UpsertContactIn names a contact by address, external id or both, and what to
// change of it.
type UpsertContactIn struct {
	Email            string         `json:"email,omitempty" jsonschema:"format=idn-email,maxLength=254" jsonschema_description:"Needed to create. With external_id, that contact's new address."`
	ExternalID       string         `json:"external_id,omitempty" jsonschema:"minLength=1,maxLength=255" jsonschema_description:"Your own id of the person."`
	Attributes       map[string]any `json:"attributes,omitempty" jsonschema_description:"Values to change by attribute name; null clears one."`
	TopicPreferences TopicChoices   `json:"topic_preferences,omitempty" jsonschema_description:"Choices to change, by topic or as an array."`
	UnsubscribeAll   *bool          `json:"unsubscribe_all,omitempty" jsonschema:"nullable" jsonschema_description:"true opts out of everything, false back in."`

	write *contactWrite
}

// Upserted is a contact write as an agent sees it.
type Upserted struct {
	Contact      Contact `json:"contact"`
	Result       string  `json:"result" jsonschema:"enum=created,enum=updated,enum=reactivated"`
	MailableNote string  `json:"mailable_note" voice:"ours" jsonschema_description:"Whether mail may be sent to the contact, and why not."`
}

// AgentView adds what a model needs to tell its user.
func (w ContactWritten) AgentView() Upserted {
	return Upserted{Contact: w.Contact, Result: w.Result, MailableNote: mailableNote(w.Contact)}
}

func (a *Audience) contactsUpsert() core.Operation {
	return core.Declare(core.Op[UpsertContactIn, ContactWritten]{
		Name:  "contacts_upsert",
		Title: "Create or change a contact",
		Purpose: "Creates a contact, or changes the named parts of one. Use it to store a person, set attributes or record topic choices; " +
			"audience_get_schema has the names. Returns the contact and whether it was created, updated or reactivated. " +
			"It sends no mail and puts nobody on a list.",
		Effect:  core.Writes,
		Scopes:  []core.Scope{core.ContactsManage},
		Prepare: a.prepareUpsert,
		Do: func(ctx context.Context, c *core.Call, in UpsertContactIn) (ContactWritten, error) {
			written, err := a.store(ctx, c, in.write)
			return written, in.lostRace(err)
		},
	})
}

// lostRace turns a name that was free in Prepare and is taken in Do into
// contact_claim_race: another process claimed it in between.
func (in UpsertContactIn) lostRace(err error) error {
	if err == nil || in.ExternalID == "" || core.AsError(err).Code != core.CodeConflict {
		return err
	}
	return &core.Error{
		Code: core.CodeContactClaimRace, RetryAfter: time.Second, Err: err,
		Message: "Another write claimed the external id or the address at the same moment.",
	}
}

func (a *Audience) prepareUpsert(ctx context.Context, c *core.Call, in UpsertContactIn) (UpsertContactIn, error) {
	if in.Email == "" && in.ExternalID == "" {
		return in, core.Invalid("email", "or `external_id` is required")
	}
	org := c.Principal.Org.ID
	attributes, err := a.checkContact(ctx, org, in.Attributes, in.TopicPreferences)
	if err != nil {
		return in, err
	}
	in.write = &contactWrite{
		decide: decideConsent(in.UnsubscribeAll, mergeTopics(in.TopicPreferences)),
		edit: func(existing *Contact) (Contact, error) {
			return in.edit(existing, attributes)
		},
	}
	in.write.find = func(ctx context.Context) (Contact, error) { return a.findForUpsert(ctx, org, in) }
	var addresses []string
	if in.Email != "" {
		addresses = []string{in.Email}
	}
	return in, a.push(ctx, c, in.write, addresses...)
}

// findForUpsert looks for the external id first, then the address. It refuses
// what the two together make impossible.
func (a *Audience) findForUpsert(ctx context.Context, org string, in UpsertContactIn) (Contact, error) {
	if in.ExternalID == "" {
		return a.Store.ContactByEmail(ctx, org, in.Email)
	}
	in.write.shell = ""
	byID, err := a.Store.ContactByExternalID(ctx, org, in.ExternalID)
	if in.Email == "" {
		return byID, err
	}
	byEmail, errEmail := a.Store.ContactByEmail(ctx, org, in.Email)
	switch {
	case isNotFound(err) && errEmail == nil:
		return byEmail, in.mayTakeID(byEmail)
	case isNotFound(err):
		return Contact{}, errEmail
	case err != nil:
		return Contact{}, err
	case errEmail == nil && byEmail.ID != byID.ID && byEmail.Shell:
		in.write.shell = byEmail.ID
		return byID, nil
	case errEmail == nil && byEmail.ID != byID.ID:
		return Contact{}, (&core.Error{Code: core.CodeContactEmailTaken, Message: "The contact with this external id cannot get this address: another contact has it."}).WithCall("contacts_lookup", map[string]any{"external_id": in.ExternalID})
	case errEmail != nil && !isNotFound(errEmail):
		return Contact{}, errEmail
	}
	return byID, nil
}

// mayTakeID fails with contact_external_id_mismatch when the contact that has the
// address is bound to another external id.
func (in UpsertContactIn) mayTakeID(incumbent Contact) error {
	if incumbent.ExternalID == nil || *incumbent.ExternalID == in.ExternalID {
		return nil
	}
	return &core.Error{
		Code:    core.CodeContactExternalIDMismatch,
		Message: "The contact with this address has another external id.",
		Next:    "Use the external id the contact has, or leave `external_id` out.",
		Extra: map[string]any{
			"incumbent_external_id": *incumbent.ExternalID,
			"incumbent_archived":    incumbent.Status == Archived,
		},
		Call: &core.NextCall{Operation: "contacts_lookup", Arguments: map[string]any{"external_id": *incumbent.ExternalID}},
	}
}

func (in UpsertContactIn) edit(existing *Contact, attributes map[string]any) (Contact, error) {
	if existing == nil && in.Email == "" {
		return Contact{}, &core.Error{Code: core.CodeUnknownExternalID, Message: "No contact has this external id, and no address was given to create one."}
	}
	changed := Contact{}
	if existing != nil {
		changed = *existing
	}
	if in.Email != "" {
		changed.Email = addressed(in.Email)
	}
	if in.ExternalID != "" {
		changed.ExternalID = &in.ExternalID
	}
	changed.Attributes = merge(changed.Attributes, attributes)
	return changed, nil
}
