package consent

import (
	"maps"

	"github.com/mailhelm/mailhelm/core/sending"
)

// Statement has the consent that the caller of a write states.
type Statement struct {
	// UnsubscribeAll is the global opt-out; nil if the caller does not state it.
	UnsubscribeAll *bool
	// Topics has the stated choices, by topic.
	Topics map[string]sending.Subscription
}

// Earlier says which earlier choices about other topics a statement leaves in force. The
// choices of the statement always replace earlier ones.
type Earlier int

const (
	// KeepAll is for a change: all choices about other topics stay.
	KeepAll Earlier = iota
	// KeepOptOuts is for a statement about a person whose earlier choices the caller cannot
	// know, such as an archived contact: opt-outs from other topics stay.
	KeepOptOuts
	// KeepNone is for a replacement: no other choice stays.
	KeepNone
)

// IsEmpty reports whether the statement has neither the global opt-out nor a choice about a
// topic.
func (s Statement) IsEmpty() bool { return s.UnsubscribeAll == nil && len(s.Topics) == 0 }

// sets reports whether the statement has a choice about the topic, or the global opt-out if
// the topic is "".
func (s Statement) sets(topic string) bool {
	if topic == "" {
		return s.UnsubscribeAll != nil
	}
	_, is := s.Topics[topic]
	return is
}

// Decide returns the consent after the statement. inForce is the consent before it. The
// global opt-out changes only if it is stated. The result has no address and no time.
func (s Statement) Decide(inForce sending.Contact, earlier Earlier) sending.Contact {
	decided := sending.Contact{UnsubscribeAll: inForce.UnsubscribeAll, Preferences: map[string]sending.Subscription{}}
	maps.Copy(decided.Preferences, s.Topics)
	if s.UnsubscribeAll != nil {
		decided.UnsubscribeAll = *s.UnsubscribeAll
	}
	for topic, choice := range inForce.Preferences {
		stays := earlier == KeepAll || earlier == KeepOptOuts && choice == sending.OptOut
		if _, stated := decided.Preferences[topic]; stays && !stated {
			decided.Preferences[topic] = choice
		}
	}
	return decided
}
