package predicatelint

import (
	"github.com/mailhelm/mailhelm/core/predicate"
)

// conflict reports whether it is certain that the literals cannot all hold for one contact,
// or for one event in a where-condition.
func (r *prover) conflict(literals []literal) bool {
	var fields, events groups
	var consent consents
	memberships := flags{}
	for _, literal := range literals {
		if !r.spend(1) {
			return false
		}
		switch n := literal.part.Test.(type) {
		case *predicate.EventTest:
			events.add(r.sourceText(n), literal)
		case *predicate.Consent:
			consent.add(n, literal.base())
		case *predicate.Membership:
			kind := "list "
			if n.Segment {
				kind = "segment "
			}
			memberships.set(kind+n.ID, literal.base())
		default:
			field, _ := predicate.FieldOf(n)
			fields.add(field.Name, literal)
		}
	}
	return memberships.contradict() || consent.contradict() || r.fieldsConflict(fields) || r.eventsConflict(events)
}

// fieldsConflict reports whether one of the groups, each about one field, has literals that
// cannot all hold.
func (r *prover) fieldsConflict(fields groups) bool {
	for _, group := range fields.all {
		if !r.fieldPossible(group) {
			return true
		}
	}
	return false
}

// groups has literals by what they read, in the order in which the groups began.
type groups struct {
	all   [][]literal
	index map[string]int
}

func (g *groups) add(key string, one literal) {
	at, known := g.index[key]
	if !known {
		if g.index == nil {
			g.index = map[string]int{}
		}
		at = len(g.all)
		g.index[key] = at
		g.all = append(g.all, nil)
	}
	g.all[at] = append(g.all[at], one)
}

// flags has required values of true or false by name.
type flags map[string]requirement

// requirement says whether true and whether false is required.
type requirement struct{ on, off bool }

func (f flags) set(name string, value bool) {
	r := f[name]
	r.on, r.off = r.on || value, r.off || !value
	f[name] = r
}

// contradict reports whether both values are required of one flag.
func (f flags) contradict() bool {
	for _, r := range f {
		if r.on && r.off {
			return true
		}
	}
	return false
}

// consents has what tests of subscriptions require. The flags are named "topic " and the
// topic for being in the topic, "all" for the opt-out from all mail, "stub" for contacts
// that are known only from activities, and "suppressed".
type consents struct {
	flags flags
	// subscribed has by topic whether the contact must be subscribed.
	subscribed flags
}

func (c *consents) add(n *predicate.Consent, value bool) {
	if c.flags == nil {
		c.flags, c.subscribed = flags{}, flags{}
	}
	switch n.Kind {
	case predicate.Suppressed:
		c.flags.set("suppressed", value)
	case predicate.UnsubscribedAll:
		c.flags.set("all", value)
	case predicate.OptedOut:
		c.flags.set("topic "+n.Topic, !value)
	case predicate.Subscribed:
		c.subscribed.set(n.Topic, value)
		if value {
			c.flags.set("topic "+n.Topic, true)
			c.flags.set("all", false)
			c.flags.set("stub", false)
		}
	}
}

// contradict reports whether the requirements exclude each other. A contact that is
// subscribed to one topic is no stub and not unsubscribed from all. So it can only be not
// subscribed to another topic if it is not in that topic.
func (c *consents) contradict() bool {
	for topic, r := range c.subscribed {
		if r.on && r.off {
			return true
		}
		if r.off && c.flags["all"].off && c.flags["stub"].off {
			c.flags.set("topic "+topic, false)
		}
	}
	return c.flags.contradict()
}
