package topics

import (
	"maps"

	"github.com/mailhelm/mailhelm/core/sending"
)

// JoinConsent merges two consents of the same person. An opt-out in either of them counts;
// otherwise an explicit choice in either of them counts. The result has no address.
func JoinConsent(a, b sending.Contact) sending.Contact {
	joined := sending.Contact{UnsubscribeAll: a.UnsubscribeAll || b.UnsubscribeAll, Preferences: map[string]sending.Subscription{}}
	for _, source := range []sending.Contact{a, b} {
		for topic, choice := range source.Preferences {
			if joined.Preferences[topic] != sending.OptOut {
				joined.Preferences[topic] = choice
			}
		}
	}
	return joined
}

// HasOptOut reports whether the consent has an opt-out from a topic or the global opt-out.
func HasOptOut(c sending.Contact) bool {
	if c.UnsubscribeAll {
		return true
	}
	for _, choice := range c.Preferences {
		if choice == sending.OptOut {
			return true
		}
	}
	return false
}

// optOuts returns the consent with its opt-outs alone. The result has no address.
func optOuts(c sending.Contact) sending.Contact {
	only := sending.Contact{UnsubscribeAll: c.UnsubscribeAll, Preferences: map[string]sending.Subscription{}}
	for topic, choice := range c.Preferences {
		if choice == sending.OptOut {
			only.Preferences[topic] = choice
		}
	}
	return only
}

// isSameConsent reports whether a and b have the same global opt-out and the same choices.
// It ignores their addresses.
func isSameConsent(a, b sending.Contact) bool {
	return a.UnsubscribeAll == b.UnsubscribeAll && maps.Equal(a.Preferences, b.Preferences)
}
