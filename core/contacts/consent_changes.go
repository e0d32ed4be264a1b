package contacts

import (
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/topics"
)

// ConsentSource says who changed a choice of a contact. It is the caller of an operation
// (see core.Principal.Caller), a result of [ByImport], or one of the constants below. It
// contains only ids, so it may be stored.
type ConsentSource string

const (
	// ByAccount means that the change was found at the sending account: a recipient used an
	// unsubscribe link, or another program wrote to the account.
	ByAccount ConsentSource = "account"
	// ByCommand means that the command `mailhelm import contacts` made the change.
	ByCommand ConsentSource = "command"
	// importPrefix is the beginning of the results of ByImport.
	importPrefix = "import/"
)

// ByImport returns the source of changes by the import of a file that the user uploaded.
func ByImport(userID string) ConsentSource { return ConsentSource(importPrefix + userID) }

// ImportedBy returns the id of the user who uploaded the file with the change. It returns
// false if the source is not an uploaded file.
func (s ConsentSource) ImportedBy() (string, bool) {
	return strings.CutPrefix(string(s), importPrefix)
}

// Caller returns the ids of the credential and of the user that made the change by calling
// an operation. The user is "" for a credential that acts for no user; for a person who is
// signed in, both are the user's id. It returns false for every other source.
func (s ConsentSource) Caller() (credentialID, userID string, called bool) { //nolint:nonamedreturns // says which
	if _, imported := s.ImportedBy(); imported {
		return "", "", false
	}
	return strings.Cut(string(s), "/")
}

// ConsentChange says when and by whom a choice got its present value.
type ConsentChange struct {
	// At is the time of the change in microseconds since 1970.
	At int64         `json:"at"`
	By ConsentSource `json:"by"`
}

// Time returns the time of the change.
func (c ConsentChange) Time() time.Time { return time.UnixMicro(c.At).UTC() }

// ConsentChanges has the last change of each choice of a contact. It lacks choices that did
// not change since changes are recorded. They are recorded with the choices, in the same
// write.
type ConsentChanges struct {
	// UnsubscribeAll is the last change of the global opt-out, nil for none.
	UnsubscribeAll *ConsentChange `json:"all,omitempty"`
	// Topics has the changes of explicit choices, by topic.
	Topics map[string]ConsentChange `json:"topics,omitempty"`
}

// consentChanges returns the consent changes to store with after. before is the contact as
// stored. change is called for each choice that differs; its argument is the topic, or ""
// for the global opt-out.
func consentChanges(before, after Contact, change func(topic string) ConsentChange) ConsentChanges {
	changes := before.ConsentChanges
	if before.UnsubscribeAll != after.UnsubscribeAll {
		made := change("")
		changes.UnsubscribeAll = &made
	}
	if slices.Equal(before.TopicPreferences, after.TopicPreferences) {
		return changes
	}
	changes.Topics = make(map[string]ConsentChange, len(after.TopicPreferences))
	for _, choice := range after.TopicPreferences {
		if !slices.Contains(before.TopicPreferences, choice) {
			changes.Topics[choice.Topic] = change(choice.Topic)
		} else if earlier, recorded := before.ConsentChanges.Topics[choice.Topic]; recorded {
			changes.Topics[choice.Topic] = earlier
		}
	}
	return changes
}

// WithAccountConsent returns a copy of the contact with the consent that the sending account
// has. It records each difference as a change at the account, at the time of the account's
// last change of the contact. now is that time if the account does not say it.
func (c Contact) WithAccountConsent(consent sending.Contact, now time.Time) Contact {
	after := c.WithConsent(consent)
	change := accountChange(consent.UpdatedAt, now)
	after.ConsentChanges = consentChanges(c, after, func(string) ConsentChange { return change })
	return after
}

// accountChange returns a change at the sending account, at the time updated unless that is
// unknown or after now.
func accountChange(updated, now time.Time) ConsentChange {
	if updated.IsZero() || updated.After(now) {
		updated = now
	}
	return ConsentChange{updated.UnixMicro(), ByAccount}
}

// ConsentChanges returns the consent changes to store with after, the result of the plan.
// was is the contact before, nil for a new one. stated is the change of a choice that the
// plan sets. Every other difference was found at the sending account, which last changed the
// contact at the time updated; the zero time means that this is unknown.
func (p Plan) ConsentChanges(was *Contact, after Contact, stated ConsentChange, updated time.Time) ConsentChanges {
	before := Contact{}
	if was != nil {
		before = *was
	}
	named := topics.ChoicesByTopic(p.Topics)
	return consentChanges(before, after, func(topic string) ConsentChange {
		if _, isNamed := named[topic]; isNamed || topic == "" && p.UnsubscribeAll != nil {
			return stated
		}
		return accountChange(updated, stated.Time())
	})
}
