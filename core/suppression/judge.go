package suppression

import (
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
)

// Adverse is a bounce, complaint or reject that may count against an address.
type Adverse struct {
	// Recipient is the address as spelled in the event.
	Recipient  string
	OccurredAt time.Time
	Type       messages.EventType
	// Bounced has the type and sub type of a Bounce. For a Complaint, only SubType is set,
	// to the complaint's sub type.
	Bounced messages.BounceKind
}

// channelLimitReached is the provider's sub type of a bounce that only says that the
// message exceeded a limit of its channel (the provider's word).
const channelLimitReached = "ChannelLimitExceeded"

// ruleFor returns the rule that may judge the address of this event as undeliverable, or ""
// if no rule counts the event. A bounce or complaint that the account's own suppression
// list caused is not counted: the provider did not try to deliver and only repeats an
// earlier decision. A bounce that the provider's global list caused is counted, because
// mail of other accounts bounced.
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

// isSoft reports whether the event counts as a soft bounce. A bounce of a message that
// exceeded a limit of its channel does not count, because it says nothing about the
// address.
func (a Adverse) isSoft() bool {
	reason := a.ruleFor()
	return (reason == RepeatedTransient || reason == Undetermined) && a.Bounced.SubType != channelLimitReached
}

// reasonFor returns the most severe reason whose rule the evidence meets, "" if it meets
// none. evidence must be sorted by time.
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

// judge returns the new entry of an address, given its events sorted by time. known is the
// stored entry, nil if there is none. It returns known if nothing changes. The result
// depends on the events, the rules and exclusions by operators, but not on the order in
// which the events arrived.
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
		return known // the address remains listed because of an event that is no longer read
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

// rulesChangedText is the exclusion reason of an entry that no longer meets any rule after
// a change of rules.
const rulesChangedText = "rules changed"

// split divides the evidence at the last exclusion of the address by a person. The first
// result has the events up to the exclusion, which no longer count. The second result has
// the later events.
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

// entryOf returns the entry of an address, computed from the events in evidence, which must
// not be empty. If known is not nil, the times ForgivenAt and LastChangedAt are those of
// known.
func entryOf(known *Entry, evidence []Adverse) Entry {
	first := evidence[0]
	entry := Entry{
		Key: AddressKey(first.Recipient), Email: first.Recipient, FirstSeenAt: first.OccurredAt,
		LastSeenAt: evidence[len(evidence)-1].OccurredAt, EventCount: len(evidence),
	}
	// If several events have the earliest time, the alphabetically first spelling is used,
	// so that the order of arrival does not matter.
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

// maxHistory limits the cost of an address that bounces all the time: only its newest
// 1,000 events are read, plus all that have the same time as the oldest of these. Older
// events are not counted, but the stored [Entry] of the address keeps their reason and the
// time of the first one.
const maxHistory = 1000

// isOlderThan reports whether e has the status Listed because of events before the first
// event in evidence. These earlier events are no longer read, for example because they were
// purged.
func (e *Entry) isOlderThan(evidence []Adverse) bool {
	return e.Status == Listed && (len(evidence) == 0 || e.FirstSeenAt.Before(evidence[0].OccurredAt))
}

// keep adds to e what the stored entry known shows about events that are no longer read: a
// more severe reason, an earlier first or later last event, and a higher event count.
// After a change of rules, keep copies the reason only if its rule is locked (see [Rule]).
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

// tombstone returns e, the entry of an address that stays excluded, with the times of its
// first and last event and its event count updated from evidence. The evidence may include
// events that arrived after the exclusion.
func (e Entry) tombstone(evidence []Adverse) *Entry {
	entry := entryOf(&e, evidence)
	entry.Status, entry.Reason, entry.ExcludedAt, entry.ExclusionReason = Excluded, e.Reason, e.ExcludedAt, e.ExclusionReason
	entry.keep(e, false)
	return &entry
}

// AddressKey returns the normalized form of an address. It is the key of the address's
// [Entry].
func AddressKey(email string) string { return core.EmailKey(email) }
