package contacts

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
)

// PendingConsent records the consent that callers stated for a contact and that is not
// yet written to the sending account. The time of each statement is in microseconds since
// 1970. A statement overrides an earlier opt-out at the account. Consent that is not
// stated here stays as the account has it.
type PendingConsent struct {
	// UnsubscribeAll is the time when the global opt-out was set or removed; 0 for never.
	UnsubscribeAll int64            `json:"all,omitempty"`
	Topics         map[string]int64 `json:"topics,omitempty"`
	// OldEmails lists earlier addresses of the contact, which are to be removed from the
	// sending account.
	OldEmails []string `json:"left,omitempty"`
	// Fresh is true if another contact had the address just before. The consent that the
	// sending account has for this address is then still that of the other contact.
	Fresh bool `json:"fresh,omitempty"`
}

// Add returns a copy of s. In the copy, all consent that the plan p states has the time
// now. If oldEmail is not "", it is an earlier address of the contact, and the copy also
// has it in the field OldEmails. s may be nil.
func (s *PendingConsent) Add(p Plan, oldEmail string, now time.Time) *PendingConsent {
	pending := PendingConsent{}
	if s != nil {
		pending = *s
	}
	if p.UnsubscribeAll != nil {
		pending.UnsubscribeAll = now.UnixMicro()
	}
	if len(p.Topics) > 0 {
		pending.Topics = maps.Clone(pending.Topics)
		if pending.Topics == nil {
			pending.Topics = map[string]int64{}
		}
	}
	for _, choice := range p.Topics {
		pending.Topics[choice.Topic] = now.UnixMicro()
	}
	if oldEmail != "" && !slices.ContainsFunc(pending.OldEmails, func(a string) bool { return strings.EqualFold(a, oldEmail) }) {
		pending.OldEmails = append(slices.Clone(pending.OldEmails), oldEmail)
	}
	return &pending
}

// AddOptOuts returns a copy of s to which the opt-outs of the contact c are added, as if
// they were stated at the time now. c was archived before, so the sending account may have
// deleted these opt-outs; the copy causes them to be written to it again.
func (s *PendingConsent) AddOptOuts(c Contact, now time.Time) *PendingConsent {
	pending := *s
	if c.UnsubscribeAll {
		pending.UnsubscribeAll = now.UnixMicro()
	}
	pending.Topics = maps.Clone(pending.Topics)
	for _, choice := range c.TopicPreferences {
		if choice.SubscriptionStatus != sending.OptOut {
			continue
		}
		if pending.Topics == nil {
			pending.Topics = map[string]int64{}
		}
		pending.Topics[choice.Topic] = now.UnixMicro()
	}
	return &pending
}

// MergeConsent returns the consent to store in the database and at the sending account.
// held is the account's consent; if it is nil, the result is the consent of c. pending
// lists the choices of c that the account does not have yet. Such a choice replaces the
// account's choice, unless the account's choice is a later opt-out. All other choices are
// the account's.
func MergeConsent(held *sending.Contact, c Contact, pending PendingConsent) sending.Contact {
	here := ConsentOf(c)
	if held == nil {
		return here
	}
	younger := func(at int64) bool { return held.UpdatedAt.UnixMicro() > at && !held.UpdatedAt.IsZero() }
	joined := sending.Contact{
		Email: c.Email, UnsubscribeAll: held.UnsubscribeAll, Preferences: map[string]sending.Subscription{}, UpdatedAt: held.UpdatedAt,
	}
	if at := pending.UnsubscribeAll; at != 0 && !(held.UnsubscribeAll && younger(at)) {
		joined.UnsubscribeAll = here.UnsubscribeAll
	}
	for topic, choice := range held.Preferences {
		joined.Preferences[topic] = choice
	}
	for topic, at := range pending.Topics {
		if choice, chosen := here.Preferences[topic]; chosen && !(joined.Preferences[topic] == sending.OptOut && younger(at)) {
			joined.Preferences[topic] = choice
		}
	}
	return joined
}
