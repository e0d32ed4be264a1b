package consent

import (
	"maps"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
)

// Changes has the last change of each choice of a contact. A write stores it together with
// the choices. It has no entry for a choice that has not changed since Mailhelm began to
// record changes.
type Changes struct {
	// UnsubscribeAll is the last change of the global opt-out, nil for none.
	UnsubscribeAll *Change `json:"all,omitempty"`
	// Topics has the changes of explicit choices, by topic.
	Topics map[string]Change `json:"topics,omitempty"`
}

// AtAccount returns the changes after the sending account's consent replaced the stored
// consent before. Each difference is a change at the account, at the time of the account's
// last change of the contact (account.UpdatedAt), or now if the account does not report one.
func (c Changes) AtAccount(before, account sending.Contact, now time.Time) Changes {
	change := accountChange(account.UpdatedAt, now)
	return c.record(before, account, func(string) Change { return change })
}

// ByStatement returns the changes after a write replaced the consent before by the consent
// after. The choices of the statement were changed as stated says. Every other difference
// was found at the sending account. updated is the time at which the account last changed the
// contact; the zero time means that it is unknown.
func (c Changes) ByStatement(before, after sending.Contact, s Statement, stated Change, updated time.Time) Changes {
	return c.record(before, after, func(topic string) Change {
		if s.sets(topic) {
			return stated
		}
		return accountChange(updated, stated.Time())
	})
}

// record returns the changes to store with the consent after, if c was stored with the
// consent before. change is called for each choice that differs; its argument is the topic,
// or "" for the global opt-out.
func (c Changes) record(before, after sending.Contact, change func(topic string) Change) Changes {
	if before.UnsubscribeAll != after.UnsubscribeAll {
		made := change("")
		c.UnsubscribeAll = &made
	}
	if maps.Equal(before.Preferences, after.Preferences) {
		return c
	}
	changed := make(map[string]Change, len(after.Preferences))
	for topic, choice := range after.Preferences {
		if earlier, chosen := before.Preferences[topic]; !chosen || earlier != choice {
			changed[topic] = change(topic)
		} else if recorded, is := c.Topics[topic]; is {
			changed[topic] = recorded
		}
	}
	c.Topics = changed
	return c
}
