package engine

import (
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// send holds a message for a person, delays it to the send window, filters it, or passes it on.
func (m *motion) send(of planned, s *language.Send) (next int, goes bool) {
	switch m.State.Phase {
	case Held, Sending:
		return end, false
	case Sent:
		return of.next, true
	case Skipped:
		m.event(Event{Type: SendSkipped})
		return of.next, true
	case Cancelled:
		m.exit(ByCancel, "")
		return end, false
	case Approved, Delayed:
		m.State.Passed = m.State.Passed || m.State.Phase == Approved
		if m.leaves() { // the send has waited since the exits were tested
			return end, false
		}
	}
	if m.facts.Hold && !m.State.Passed {
		m.State.Phase = Held
		m.event(Event{Type: SendHeld})
		return end, false
	}
	if opens := m.opens(); opens.After(m.facts.Now) {
		m.State.Phase, m.State.WakeAt = Delayed, opens
		return end, false
	}
	if tier, reason := m.filter(s); tier != "" {
		m.event(Event{Type: SendFiltered, Tier: tier, Reason: reason})
		return of.next, true
	}
	m.State.Phase = Sending
	m.Effects = append(m.Effects, &Message{Path: of.path, Template: s.Template, Topic: s.Topic, Transactional: s.Transactional})
	return end, false
}

// opens returns the time from which the send window is open: now, or its next beginning.
func (m *motion) opens() time.Time {
	window := m.plan.Settings().Window
	if window == nil {
		return m.facts.Now
	}
	return nextOpening(*window, m.facts.Now, m.facts.location())
}

// filter returns why the contact must not get the message, "" if nothing is against it.
func (m *motion) filter(s *language.Send) (Tier, Reason) {
	if m.isCapped() {
		return ByCap, Capped
	}
	subject := m.facts.Subject
	switch {
	case subject.Suppressed: // the account refuses the address
		return ByAccount, Suppressed
	case s.Transactional:
		return "", ""
	case subject.UnsubscribedFromAll, subject.Stub:
		return ByAccount, UnsubscribedAll
	case s.Topic != "" && !m.isIn(s.Topic, subject):
		return ByTopic, OptedOut
	}
	return "", ""
}

// isIn reports whether the contact subscribes to a topic, by choice or by default.
func (m *motion) isIn(topic string, subject *predicate.Subject) bool {
	if in, chosen := subject.Topics[topic]; chosen {
		return in
	}
	return m.plan.checked.TopicDefault(topic)
}

// isCapped reports whether the contact has got as many messages as it may.
func (m *motion) isCapped() bool {
	limit := m.plan.Settings().Cap
	if limit == nil {
		limit = m.facts.Cap
	}
	if limit == nil || limit.Off {
		return false
	}
	since := m.facts.Now.Add(-time.Duration(limit.Per.Micros()) * time.Microsecond)
	return m.facts.Mailed(since) >= limit.Messages
}
