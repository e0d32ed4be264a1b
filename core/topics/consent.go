package topics

import (
	"maps"

	"github.com/mailhelm/mailhelm/core/sending"
)

// JoinConsent returns the consent of two sources together. An opt-out in either source
// counts; otherwise a choice in either counts. The result has no address.
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

// HasOptOut reports whether the person opted out of a topic or of everything.
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

// optOuts returns only the opt-outs of a consent.
func optOuts(c sending.Contact) sending.Contact {
	only := sending.Contact{UnsubscribeAll: c.UnsubscribeAll, Preferences: map[string]sending.Subscription{}}
	for topic, choice := range c.Preferences {
		if choice == sending.OptOut {
			only.Preferences[topic] = choice
		}
	}
	return only
}

// isSameConsent reports whether both have the same consent, apart from their addresses.
func isSameConsent(a, b sending.Contact) bool {
	return a.UnsubscribeAll == b.UnsubscribeAll && maps.Equal(a.Preferences, b.Preferences)
}
