package consent

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
)

// Pending records which consent of a contact callers stated and no job has yet written to
// the sending account. The choices themselves are stored with the contact. The time of each
// statement is in microseconds since 1970. A statement overrides an earlier opt-out at the
// account. Consent that is not stated here stays as the account has it.
type Pending struct {
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

// Add returns a copy of p. In the copy, all consent of the statement has the time now. If
// oldEmail is not "", it is an earlier address of the contact, and the copy also has it in
// the field OldEmails. p may be nil.
func (p *Pending) Add(s Statement, oldEmail string, now time.Time) *Pending {
	pending := Pending{}
	if p != nil {
		pending = *p
	}
	if s.UnsubscribeAll != nil {
		pending.UnsubscribeAll = now.UnixMicro()
	}
	if len(s.Topics) > 0 {
		pending.Topics = maps.Clone(pending.Topics)
		if pending.Topics == nil {
			pending.Topics = map[string]int64{}
		}
	}
	for topic := range s.Topics {
		pending.Topics[topic] = now.UnixMicro()
	}
	if oldEmail != "" && !slices.ContainsFunc(pending.OldEmails, func(a string) bool { return strings.EqualFold(a, oldEmail) }) {
		pending.OldEmails = append(slices.Clone(pending.OldEmails), oldEmail)
	}
	return &pending
}

// AddOptOuts returns a copy of p to which the opt-outs of the stored consent are added, as
// if they were stated at the time now. Use it for a contact that was archived: the sending
// account may have deleted these opt-outs, and the copy causes a job to write them again.
func (p *Pending) AddOptOuts(stored sending.Contact, now time.Time) *Pending {
	pending := *p
	if stored.UnsubscribeAll {
		pending.UnsubscribeAll = now.UnixMicro()
	}
	pending.Topics = maps.Clone(pending.Topics)
	for topic, choice := range stored.Preferences {
		if choice != sending.OptOut {
			continue
		}
		if pending.Topics == nil {
			pending.Topics = map[string]int64{}
		}
		pending.Topics[topic] = now.UnixMicro()
	}
	return &pending
}

// Merge returns the consent to store in the database and at the sending account. stored is
// the consent in the database, with the choices that p lists. held is the account's consent;
// if it is nil, the result is stored. A choice that p lists replaces the account's choice,
// unless the account's choice is a later opt-out. All other choices are the account's. The
// result has the address of stored and the time of held.
func (p Pending) Merge(held *sending.Contact, stored sending.Contact) sending.Contact {
	if held == nil {
		return stored
	}
	isLater := func(at int64) bool { return held.UpdatedAt.UnixMicro() > at && !held.UpdatedAt.IsZero() }
	merged := sending.Contact{
		Email: stored.Email, UnsubscribeAll: held.UnsubscribeAll, Preferences: map[string]sending.Subscription{}, UpdatedAt: held.UpdatedAt,
	}
	if at := p.UnsubscribeAll; at != 0 && !(held.UnsubscribeAll && isLater(at)) {
		merged.UnsubscribeAll = stored.UnsubscribeAll
	}
	maps.Copy(merged.Preferences, held.Preferences)
	for topic, at := range p.Topics {
		if choice, chosen := stored.Preferences[topic]; chosen && !(merged.Preferences[topic] == sending.OptOut && isLater(at)) {
			merged.Preferences[topic] = choice
		}
	}
	return merged
}
