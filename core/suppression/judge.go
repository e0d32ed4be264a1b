package suppression

import (
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
)

// Adverse is an event that may speak against an address.
type Adverse struct {
	// Recipient is the address as the event spells it.
	Recipient  string
	OccurredAt time.Time
	Type       messages.EventType
	// Bounced is of a Bounce; of a Complaint, its SubType is that of the complaint.
	Bounced messages.BounceKind
}

// channelLimitReached is a detail of the provider beside the type of a bounce.
const channelLimitReached = "ChannelLimitExceeded"

// speaksFor is the rule that the event is evidence for by its kind, "" for none.
// The provider did not try to deliver to an address on the account's own list:
// such a bounce or complaint repeats a decision, which may have been a person's,
// and is no evidence. Its list over all accounts is: mail of another account bounced
// there.
func (a Adverse) speaksFor() Reason {
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

// isSoft reports whether the event counts as a soft bounce. A recipient who is
// mailed too often for the channel's limit is no worse an address for it.
func (a Adverse) isSoft() bool {
	reason := a.speaksFor()
	return (reason == RepeatedTransient || reason == Undetermined) && a.Bounced.SubType != channelLimitReached
}

// reasonFor is the weightiest reason that holds, "" when none does. evidence is in
// order of time.
func (s *RuleSet) reasonFor(evidence []Adverse) Reason {
	times := map[Reason][]time.Time{}
	for _, a := range evidence {
		reason := a.speaksFor()
		times[reason] = append(times[reason], a.OccurredAt)
		if a.isSoft() {
			times[SoftBounceAccumulation] = append(times[SoftBounceAccumulation], a.OccurredAt)
		}
	}
	for _, reason := range reasons {
		if s.Rule(reason).met(times[reason]) {
			return reason
		}
	}
	return ""
}

// judge brings an address's entry up to its history, which is in order of time;
// known is nil when it has none yet. It returns nil when there is nothing to say.
// An entry follows from history, rules and what operators excluded, and from
// nothing else: not from the order in which events arrive.
func (s *RuleSet) judge(known *Entry, history []Adverse, rulesChanged bool, now time.Time) *Entry {
	evidence := slices.DeleteFunc(slices.Clone(history), func(a Adverse) bool { return a.speaksFor() == "" })
	before, since := split(evidence, known)
	reason := s.reasonFor(since)
	cut := len(history) >= maxHistory || known != nil && known.outlives(since)
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
		return known // by an event that is not looked at, or forgotten
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

// rulesChangedText is the exclusion reason of what no longer qualifies.
const rulesChangedText = "rules changed"

// split parts evidence at the last exclusion by a person: what came up to then was
// forgiven.
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

// entryOf counts the evidence, of which there is some.
func entryOf(known *Entry, evidence []Adverse) Entry {
	first := evidence[0]
	entry := Entry{
		Key: AddressKey(first.Recipient), Email: first.Recipient, FirstSeenAt: first.OccurredAt,
		LastSeenAt: evidence[len(evidence)-1].OccurredAt, EventCount: len(evidence),
	}
	// Of events of one instant the spelling that sorts first, whichever came first.
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

// maxHistory is how many events of an address are looked at, the newest, so that
// judging one that bounces without end stays cheap. What earlier ones proved is
// kept, and the count of events ends here.
const maxHistory = 1000

// outlives reports whether the entry was listed by events from before the evidence,
// which are forgotten.
func (e *Entry) outlives(evidence []Adverse) bool {
	return e.Status == Listed && (len(evidence) == 0 || e.FirstSeenAt.Before(evidence[0].OccurredAt))
}

// keep holds on to what is known from events that are no longer looked at. While
// all of them are, it changes nothing. Under other rules only a reason of one event
// ever is sure to hold still.
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

// tombstone is an excluded entry with the figures of its evidence, some of which
// may have arrived late.
func (e Entry) tombstone(evidence []Adverse) *Entry {
	entry := entryOf(&e, evidence)
	entry.Status, entry.Reason, entry.ExcludedAt, entry.ExclusionReason = Excluded, e.Reason, e.ExcludedAt, e.ExclusionReason
	entry.keep(e, false)
	return &entry
}

// AddressKey is the form of an address under which it is judged.
func AddressKey(email string) string { return core.EmailKey(email) }
