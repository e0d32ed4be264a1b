package segments

import (
	"strconv"

	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/predicate"
)

// messageTypes maps the event kinds of messages to their names in storage.
var messageTypes = map[predicate.EventKind]messages.EventType{
	predicate.Send: messages.Send, predicate.Delivery: messages.Delivery, predicate.Open: messages.Open,
	predicate.Click: messages.Click, predicate.Bounce: messages.Bounce, predicate.Complaint: messages.Complaint,
	predicate.Reject: messages.Reject, predicate.DeliveryDelay: messages.DeliveryDelay,
}

// whose is the column of events that identifies the contact, and the expression that it
// equals.
type whose struct{ column, contact string }

// events returns the FROM and WHERE of a source's events, without the keywords. Test
// messages do not count.
func (c *condition) events(s *predicate.EventSource) (from, where string, by whose) {
	by = whose{`e.contact_id`, `s.contact_id`}
	if s.Event.Kind == predicate.ActivityEvent {
		from, where = `activities AS e`, `e.org_id = `+orgParameter+` AND e.name = `+c.parameter(s.Event.Activity)
		if c.narrowed {
			where += ` AND e.contact_id IN ` + givenContacts
		}
	} else {
		c.needsContact = true
		by = whose{`e.recipient_key`, `c.email_key`}
		from = `message_events AS e`
		where = `e.org_id = ` + orgParameter + ` AND NOT e.test AND e.type = ` + c.parameter(string(messageTypes[s.Event.Kind]))
		if c.narrowed {
			where += ` AND e.recipient_key IN (SELECT g.email_key FROM contacts AS g WHERE g.org_id = ` + orgParameter + ` AND g.id IN ` + givenContacts + `)`
		}
		if asksSubject(s.Where) {
			from += ` LEFT JOIN messages AS m ON m.org_id = e.org_id AND m.id = e.message_id`
		}
	}
	if s.HasWithin {
		now := c.now.UnixMicro()
		where += ` AND e.occurred_at BETWEEN ` + c.parameter(now-s.Within.Micros()) + ` AND ` + c.parameter(now)
	}
	if s.HasBetween {
		where += ` AND e.occurred_at >= ` + c.parameter(s.Between.From) + ` AND e.occurred_at < ` + c.parameter(s.Between.Until)
	}
	if s.Where != nil {
		where += ` AND ` + c.node(s.Where)
	}
	return from, where, by
}

// asksSubject reports whether a condition reads the subject, which is a column of the
// message and not of the event.
func asksSubject(n predicate.Node) bool {
	any := func(terms []predicate.Node) bool {
		for _, term := range terms {
			if asksSubject(term) {
				return true
			}
		}
		return false
	}
	is := func(f predicate.Field) bool { return f.Name == "subject" }
	switch n := n.(type) {
	case *predicate.And:
		return any(n.Terms)
	case *predicate.Or:
		return any(n.Terms)
	case *predicate.Not:
		return asksSubject(n.Term)
	case *predicate.Compare:
		return is(n.Field)
	case *predicate.In:
		return is(n.Field)
	case *predicate.Match:
		return is(n.Field)
	case *predicate.Known:
		return is(n.Field)
	}
	return false
}

// inside runs f while property refers to the event e.
func (c *condition) inside(e *predicate.Event, f func()) {
	c.event = e
	f()
	c.event = nil
}

// requiredEvents returns an event test of which only True counts, or if negated only
// False. A negated test is a count or exists. It avoids NOT EXISTS, because SQLite would
// run it for each contact, by the first index.
func (c *condition) requiredEvents(n *predicate.EventTest, negated bool) string {
	some, none := existence(n)
	if negated {
		some, none = none, some
	}
	if none || !some && (negated || n.Kind == predicate.Count && ofNone(n)) {
		test := c.eventTest(n) // a contact without events has no group
		if negated {
			return `(NOT ` + test + `)`
		}
		return test
	}
	var text string
	c.inside(&n.Source.Event, func() {
		from, where, by := c.events(&n.Source)
		of := `SELECT ` + by.column + ` FROM ` + from + ` WHERE ` + where
		if !some {
			of = c.groups(of + ` GROUP BY ` + by.column + ` HAVING ` + c.figureTest(n, c.figure(n)))
		}
		text = by.contact + ` IN (` + of + `)`
	})
	return text
}

// ofNone reports whether the test passes for a count of 0.
func ofNone(n *predicate.EventTest) bool { return passes(n.Op, 0, n.Number) }

// existence reports whether a test is equivalent to "at least one event" (some) or to "no
// event" (none).
func existence(n *predicate.EventTest) (some, none bool) {
	if n.Kind == predicate.Exists {
		return true, false
	}
	if n.Kind != predicate.Count {
		return false, false
	}
	zero, one, many := ofNone(n), passes(n.Op, 1, n.Number), passes(n.Op, 1e15, n.Number)
	if n.Op == predicate.Equal || n.Op == predicate.NotEqual { // only a comparison with 0 tests existence
		if n.Number != 0 {
			return false, false
		}
	}
	return !zero && one && many, zero && !one && !many
}

func passes(op predicate.Op, a, b float64) bool {
	switch op {
	case predicate.Equal:
		return a == b
	case predicate.NotEqual:
		return a != b
	case predicate.Less:
		return a < b
	case predicate.LessOrEqual:
		return a <= b
	case predicate.Greater:
		return a > b
	case predicate.GreaterOrEqual:
		return a >= b
	}
	return false
}

// figure returns the aggregate of the events that the test compares.
func (c *condition) figure(n *predicate.EventTest) string {
	switch n.Kind {
	case predicate.Count, predicate.Exists:
		return `count(*)`
	case predicate.Last:
		return `max(e.occurred_at)`
	case predicate.First:
		return `min(e.occurred_at)`
	case predicate.Sum, predicate.Avg, predicate.Min, predicate.Max:
		return n.Kind.String() + `(` + c.field(n.Field) + `)`
	}
	return c.fail("event test %d", n.Kind)
}

// figureTest compares a figure with the operand of the test.
func (c *condition) figureTest(n *predicate.EventTest, figure string) string {
	if n.Kind == predicate.Last || n.Kind == predicate.First {
		return `(` + figure + ` ` + operator(n.Op) + ` ` + c.micros(n.Time.At(c.now)) + `)`
	}
	return `(` + figure + ` ` + operator(n.Op) + ` ` + c.number(n.Number) + `)`
}

// eventTest returns an event test for any position. It joins the figures of all contacts
// with events; other contacts have NULL there. A subquery for each contact, or one too
// large to hash, would be far slower.
func (c *condition) eventTest(n *predicate.EventTest) string {
	c.aggregated++
	alias := `a` + strconv.Itoa(c.aggregated)
	c.inside(&n.Source.Event, func() {
		figure := c.figure(n)
		from, where, by := c.events(&n.Source)
		groups := c.groups(`SELECT ` + by.column + ` AS who, ` + figure + ` AS figure FROM ` + from + ` WHERE ` + where + ` GROUP BY ` + by.column)
		c.aggregates.WriteString(` LEFT JOIN (` + groups + `) AS ` + alias + ` ON ` + alias + `.who = ` + by.contact)
	})
	switch n.Kind {
	case predicate.Exists:
		return `(` + alias + `.who IS NOT NULL)`
	case predicate.Count:
		return c.figureTest(n, `coalesce(`+alias+`.figure, 0)`)
	}
	return c.figureTest(n, alias+`.figure`)
}

// groups returns a subquery of events by contact that PostgreSQL runs once. For a question
// about given contacts, which has few groups, it keeps the rows of the subquery. For all
// contacts see [engine.Composed.AggregatesOnce].
func (c *condition) groups(subquery string) string {
	c.grouped = true
	if !c.narrowed {
		return subquery
	}
	return `/*pg WITH g AS MATERIALIZED (*/ ` + subquery + ` /*pg ) SELECT * FROM g*/`
}
