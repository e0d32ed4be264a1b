package contacts

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
)

// Said is consent that was stated here and has not reached the account, with the times
// in microseconds since 1970. It overrides an earlier opt-out at the account. For
// everything not stated here, the account's value holds.
type Said struct {
	// UnsubscribeAll is when the global opt-out was stated, true or false; 0 for never.
	UnsubscribeAll int64            `json:"all,omitempty"`
	Topics         map[string]int64 `json:"topics,omitempty"`
	// Left lists earlier addresses of the contact.
	Left []string `json:"left,omitempty"`
	// Fresh is true when another contact had the address just before. The consent that
	// the account holds for it is then the other contact's.
	Fresh bool `json:"fresh,omitempty"`
}

// Add returns s extended by the consent that the plan states at the time now. A nil s
// is empty.
func (s *Said) Add(p Plan, left string, now time.Time) *Said {
	said := Said{}
	if s != nil {
		said = *s
	}
	if p.UnsubscribeAll != nil {
		said.UnsubscribeAll = now.UnixMicro()
	}
	if len(p.Topics) > 0 {
		said.Topics = maps.Clone(said.Topics)
		if said.Topics == nil {
			said.Topics = map[string]int64{}
		}
	}
	for _, choice := range p.Topics {
		said.Topics[choice.Topic] = now.UnixMicro()
	}
	if left != "" && !slices.ContainsFunc(said.Left, func(a string) bool { return strings.EqualFold(a, left) }) {
		said.Left = append(slices.Clone(said.Left), left)
	}
	return &said
}

// AddOptOuts returns a copy of s that also states the opt-outs with which a contact was
// archived. The account may no longer have them.
func (s *Said) AddOptOuts(c Contact, now time.Time) *Said {
	said := *s
	if c.UnsubscribeAll {
		said.UnsubscribeAll = now.UnixMicro()
	}
	said.Topics = maps.Clone(said.Topics)
	for _, choice := range c.TopicPreferences {
		if choice.SubscriptionStatus != sending.OptOut {
			continue
		}
		if said.Topics == nil {
			said.Topics = map[string]int64{}
		}
		said.Topics[choice.Topic] = now.UnixMicro()
	}
	return &said
}

// MergeConsent returns the consent to store here and at the account. held is what the account
// holds, nil for nothing. A statement made here holds unless the account has a later
// opt-out. For everything else the account's value holds.
func MergeConsent(held *sending.Contact, c Contact, said Said) sending.Contact {
	here := ConsentOf(c)
	if held == nil {
		return here
	}
	younger := func(at int64) bool { return held.UpdatedAt.UnixMicro() > at && !held.UpdatedAt.IsZero() }
	joined := sending.Contact{Email: c.Email, UnsubscribeAll: held.UnsubscribeAll, Preferences: map[string]sending.Subscription{}}
	if at := said.UnsubscribeAll; at != 0 && !(held.UnsubscribeAll && younger(at)) {
		joined.UnsubscribeAll = here.UnsubscribeAll
	}
	for topic, choice := range held.Preferences {
		joined.Preferences[topic] = choice
	}
	for topic, at := range said.Topics {
		if choice, chosen := here.Preferences[topic]; chosen && !(joined.Preferences[topic] == sending.OptOut && younger(at)) {
			joined.Preferences[topic] = choice
		}
	}
	return joined
}
