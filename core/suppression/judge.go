package suppression

import (
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
)

// Adverse is an event that may count against an address.
type Adverse struct {
	// Recipient is the address in the spelling of the event.
	Recipient  string
	OccurredAt time.Time
	Type       messages.EventType
	// Bounced has the type and subtype of a Bounce. For a Complaint, its SubType is that
	// of the complaint.
	Bounced messages.BounceKind
}

// channelLimitReached is the subtype of a bounce that means a limit of the channel.
const channelLimitReached = "ChannelLimitExceeded"

// ruleFor returns the rule for which the event is evidence, "" for none. The provider does
// not attempt delivery to an address on the account's own list. A bounce or complaint of
// that kind only repeats an earlier decision, possibly a person's, and is no evidence. A
// bounce because of the provider's global list is evidence, because mail of another account
// bounced.
func (a Adverse) ruleFor() Reason {
	if a.Bounced.SubType == messages.OnAccountList {
		return ""
	}
	switch a.Type {
	case messages.Complaint:
		return Complaint
	case messages.Reject:
		return Rejected
	case messages.Bounce:
		switch {
		case a.Bounced.Type == messages.PermanentBounce:
			return PermanentBounce
		case a.Bounced.Type == messages.TransientBounce:
			return RepeatedTransient
		case a.Bounced.Type == messages.UndeterminedBounce:
			return Undetermined
		}
	}
	return ""
}

// isSoft reports whether the event counts as a soft bounce. A bounce due to a limit of
// the channel says nothing about the address.
func (a Adverse) isSoft() bool {
	reason := a.ruleFor()
	return (reason == RepeatedTransient || reason == Undetermined) && a.Bounced.SubType != channelLimitReached
}

// reasonFor returns the most severe reason that applies, "" if none does. evidence must
// be in order of time.
func (s *RuleSet) reasonFor(evidence []Adverse) Reason {
	times := map[Reason][]time.Time{}
	for _, a := range evidence {
		reason := a.ruleFor()
		times[reason] = append(times[reason], a.OccurredAt)
		if a.isSoft() {
			times[SoftBounceAccumulation] = append(times[SoftBounceAccumulation], a.OccurredAt)
		}
	}
	for _, reason := range reasons {
		if s.Rule(reason).isMet(times[reason]) {
			return reason
		}
	}
	return ""
}

// judge returns an address's entry according to its history, which must be in order of
// time. known is the stored entry, nil if there is none. It returns nil if there is
// nothing to store. The result depends on history, rules and exclusions by operators,
// and not on the order in which events arrive.
func (s *RuleSet) judge(known *Entry, history []Adverse, rulesChanged bool, now time.Time) *Entry {
	evidence := slices.DeleteFunc(slices.Clone(history), func(a Adverse) bool { return a.ruleFor() == "" })
	before, since := split(evidence, known)
	reason := s.reasonFor(since)
	cut := len(history) >= maxHistory || known != nil && known.isOlderThan(since)
	switch {
	case reason != "":
		entry := entryOf(known, since)
		entry.Status, entry.Reason = Listed, reason
		if known != nil && known.Status == Listed && (!rulesChanged || cut) {
			entry.keep(*known, rulesChanged)
		}
		return &entry
	case known == nil:
		return nil
	case known.Status == Listed && rulesChanged && cut && s.Rule(known.Reason).Locked:
		return known // listed by an event that is not read any more
	case known.Status == Listed && rulesChanged:
		entry := *known
		entry.Status, entry.ExcludedAt, entry.ExclusionReason = Excluded, &now, rulesChangedText
		return &entry
	case known.excludedByPerson() && len(before) > 0:
		return known.tombstone(before)
	case known.Status == Excluded && !known.excludedByPerson() && len(since) > 0:
		return known.tombstone(since)
	}
	return known
}

// rulesChangedText is the exclusion reason of an entry that no longer qualifies.
const rulesChangedText = "rules changed"

// split divides evidence at the last exclusion by a person. Events up to then no longer
// count.
func split(evidence []Adverse, known *Entry) (before, since []Adverse) {
	if known == nil || known.ForgivenAt == nil {
		return nil, evidence
	}
	at := slices.IndexFunc(evidence, func(a Adverse) bool { return a.OccurredAt.After(*known.ForgivenAt) })
	if at < 0 {
		return evidence, nil
	}
	return evidence[:at], evidence[at:]
}

// entryOf returns an entry with the figures of the evidence, which must not be empty.
func entryOf(known *Entry, evidence []Adverse) Entry {
	first := evidence[0]
	entry := Entry{
		Key: AddressKey(first.Recipient), Email: first.Recipient, FirstSeenAt: first.OccurredAt,
		LastSeenAt: evidence[len(evidence)-1].OccurredAt, EventCount: len(evidence),
	}
	// Of events with the same time, the spelling that sorts first counts, in any order
	// of arrival.
	for _, a := range evidence {
		if a.OccurredAt.Equal(first.OccurredAt) && a.Recipient < entry.Email {
			entry.Email = a.Recipient
		}
	}
	if known != nil {
		entry.ForgivenAt, entry.LastChangedAt = known.ForgivenAt, known.LastChangedAt
	}
	return entry
}

// maxHistory is the greatest number of events read of an address, the newest ones. It
// bounds the cost of judging an address that keeps bouncing. What earlier events proved
// is kept in the entry; its count of events stops here.
const maxHistory = 1000

// isOlderThan reports whether the entry was listed by events older than the evidence, which
// were purged.
func (e *Entry) isOlderThan(evidence []Adverse) bool {
	return e.Status == Listed && (len(evidence) == 0 || e.FirstSeenAt.Before(evidence[0].OccurredAt))
}

// keep preserves in e what is known from events that are no longer read. If all of them
// are read, it changes nothing. After a change of rules it keeps only a reason that
// needs a single event, since any rules confirm it.
func (e *Entry) keep(known Entry, rulesChanged bool) {
	weightier := slices.Index(reasons, known.Reason) < slices.Index(reasons, e.Reason)
	if weightier && (!rulesChanged || slices.Index(reasons, known.Reason) <= slices.Index(reasons, Rejected)) {
		e.Reason = known.Reason
	}
	if known.FirstSeenAt.Before(e.FirstSeenAt) {
		e.FirstSeenAt, e.Email = known.FirstSeenAt, known.Email
	}
	if known.LastSeenAt.After(e.LastSeenAt) {
		e.LastSeenAt = known.LastSeenAt
	}
	e.EventCount = max(e.EventCount, known.EventCount)
}

// tombstone returns the excluded entry, which stays after the address was taken off the
// list. It has the figures of its evidence, which may include late events.
func (e Entry) tombstone(evidence []Adverse) *Entry {
	entry := entryOf(&e, evidence)
	entry.Status, entry.Reason, entry.ExcludedAt, entry.ExclusionReason = Excluded, e.Reason, e.ExcludedAt, e.ExclusionReason
	entry.keep(e, false)
	return &entry
}

// AddressKey returns the form of an address under which it is judged.
func AddressKey(email string) string { return core.EmailKey(email) }
