package contacts

import (
	"context"
	"time"

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
func (c Contact) WithConsent(given sending.Contact) Contact {
	c.UnsubscribeAll = given.UnsubscribeAll
	c.TopicPreferences = topics.ChoicesOf(given.Preferences)
	return c.withMailable()
}

// WithAccountConsent returns a copy of the contact with the consent that the sending account
// has. It records each difference as a change at the account, at the time of the account's
// last change of the contact, or now if the account does not report one.
func (c Contact) WithAccountConsent(account sending.Contact, now time.Time) Contact {
	c.ConsentChanges = c.ConsentChanges.AtAccount(ConsentOf(c), account, now)
	return c.WithConsent(account)
}

// consentReader reads consent at the sending account and in the database.
type consentReader struct{ *Config }

// liveConsent returns the consent in force. For an active contact, it reads the sending
// account, and applies stored consent that a job has yet to write there. If the account
// does not have the address, it returns the consent in the database. For an archived
// contact it does not call the account, because archiving removes the address from it.
//
// c was read outside of a transaction, before the account. So what a job writes between the
// two reads is applied twice, and never missed.
func (r consentReader) liveConsent(ctx context.Context, orgID string, c Contact) (sending.Contact, error) {
	if c.Status == Archived {
		return ConsentOf(c), nil
	}
	live, err := r.Account.Contact(ctx, orgID, c.Email)
	switch {
	case sending.IsAbsent(err):
		return r.storedConsent(ctx, orgID, c)
	case err != nil:
		return live, sending.Unavailable(err)
	case c.Pending == nil:
		return live, nil
	}
	return c.Pending.Merge(&live, ConsentOf(c)), nil
}

// storedConsent returns the consent that the database has for a contact, without choices
// about topics that the sending account no longer has.
func (r consentReader) storedConsent(ctx context.Context, orgID string, c Contact) (sending.Contact, error) {
	return r.List.DropUnknownTopics(ctx, orgID, ConsentOf(c))
}

// consentInForce returns the consent that a write to the address email starts from. existing
// is the contact that is written; nil for a new one. For an active contact that keeps its
// address, this is the result of liveConsent. Otherwise it joins the contact's earlier
// consent with the sending account's consent for email; an opt-out in either of the two
// counts. The second result reports whether the account has the address. It is always true
// for an active contact that keeps its address.
func (r consentReader) consentInForce(ctx context.Context, orgID string, existing *Contact, email string) (sending.Contact, bool, error) {
	var earlier sending.Contact
	if existing != nil {
		var err error
		earlier, err = r.earlierConsent(ctx, orgID, *existing, email)
		if err != nil || existing.Status == Active && EmailKey(existing.Email) == EmailKey(email) {
			return earlier, err == nil, err
		}
	}
	known, err := r.Account.Contact(ctx, orgID, email)
	if sending.IsNotFound(err) {
		return earlier, false, nil
	}
	return topics.JoinConsent(earlier, known), true, topics.Unavailable(err)
}

// earlierConsent returns the consent of a contact before a write to the address email. The
// consent of an archived contact is stored. If it has another address than email, the
// sending account may still have an opt-out of that address, which counts too.
func (r consentReader) earlierConsent(ctx context.Context, orgID string, c Contact, email string) (sending.Contact, error) {
	if c.Status == Active {
		return r.liveConsent(ctx, orgID, c)
	}
	stored, err := r.storedConsent(ctx, orgID, c)
	if err != nil || EmailKey(c.Email) == EmailKey(email) {
		return stored, err
	}
	atOldEmail, err := r.Account.Contact(ctx, orgID, c.Email)
	if err != nil && !sending.IsNotFound(err) {
		return stored, topics.Unavailable(err)
	}
	return topics.JoinConsent(stored, atOldEmail), nil
}

// checkTopics fails with core.CodeValidationFailed if a choice names a topic that the
// sending account does not have.
func (r consentReader) checkTopics(ctx context.Context, orgID string, choices topics.Choices) error {
	if len(choices) == 0 {
		return nil
	}
	live, err := r.List.Topics(ctx, orgID)
	if err != nil {
		return err
	}
	names := make([]string, len(live))
	for i, topic := range live {
		names[i] = topic.Name
	}
	if faults := choices.UnknownTopicFaults(names); faults != nil {
		return core.InvalidFields(faults...).WithCall("audience_get_schema", nil)
	}
	return nil
}
