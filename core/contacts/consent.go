package contacts

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/topics"
)

// ConsentOf returns the contact's consent as the database has it, in the type that the
// sending account uses.
func ConsentOf(c Contact) sending.Contact {
	return sending.Contact{Email: c.Email, UnsubscribeAll: c.UnsubscribeAll, Preferences: topics.ChoicesByTopic(c.TopicPreferences)}
}

// WithConsent returns a copy of the contact with the given consent.
func (c Contact) WithConsent(consent sending.Contact) Contact {
	c.UnsubscribeAll = consent.UnsubscribeAll
	c.TopicPreferences = topics.ChoicesOf(consent.Preferences)
	return c.withMailable()
}

// consentReader reads consent at the sending account and in the database.
type consentReader struct{ *Config }

// liveConsent returns the consent in force. For an active contact, it reads the sending
// account, and applies stored consent that a job has yet to write there. If the account
// does not have the address, it returns the consent in the database. For an archived
// contact it does not call the account, because archiving removes the address from it.
func (r consentReader) liveConsent(ctx context.Context, orgID string, c Contact) (sending.Contact, error) {
	if c.Status == Archived {
		return ConsentOf(c), nil
	}
	live, err := r.Account.Contact(ctx, orgID, c.Email)
	if sending.IsAbsent(err) {
		return r.rememberedConsent(ctx, orgID, c)
	}
	if err != nil {
		return live, sending.Unavailable(err)
	}
	pending, err := r.Store.PendingPush(ctx, orgID, c.ID)
	if err != nil || pending == nil {
		return live, err
	}
	return MergeConsent(&live, c, *pending), nil
}

// rememberedConsent returns the consent that the database has for a contact, without
// choices about topics that the sending account no longer has.
func (r consentReader) rememberedConsent(ctx context.Context, orgID string, c Contact) (sending.Contact, error) {
	return r.List.DropUnknownTopics(ctx, orgID, ConsentOf(c))
}

// knownTopics fails with core.CodeValidationFailed if a choice names a topic that the
// sending account does not have.
func (r consentReader) knownTopics(ctx context.Context, orgID string, choices topics.Choices) error {
	if len(choices) == 0 {
		return nil
	}
	live, err := r.List.Topics(ctx, orgID)
	if err != nil {
		return err
	}
	var names []string
	for _, t := range live {
		names = append(names, t.Name)
	}
	faults := choices.UnknownTopicFaults(names)
	if faults == nil {
		return nil
	}
	return core.InvalidFields(faults...).WithCall("audience_get_schema", nil)
}
