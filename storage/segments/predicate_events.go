package segments

import (
	"strconv"

	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/predicate"
)

// messageTypes maps the event kinds of predicates to the stored types of message events.
var messageTypes = map[predicate.EventKind]messages.EventType{
	predicate.Send: messages.Send, predicate.Delivery: messages.Delivery, predicate.Open: messages.Open,
	predicate.Click: messages.Click, predicate.Bounce: messages.Bounce, predicate.Complaint: messages.Complaint,
	predicate.Reject: messages.Reject, predicate.DeliveryDelay: messages.DeliveryDelay,
}

// whose identifies the contact of an event in SQL. column is the column of the event that
// identifies the contact. contact is the expression that must equal this column, such as
// s.contact_id.
type whose struct{ column, contact string }

// events returns the texts after FROM and WHERE that select the events of a source, without
// events of test messages. The result by has the column and the contact's value by which to
// find the events of one contact.
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

// asksSubject reports whether the condition tests the message's subject. The subject is in
// the table messages and not in message_events.
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

// withEvent sets c.event to e while it runs f. Fields of properties then refer to properties
// of that event.
func (c *condition) withEvent(e *predicate.Event, f func()) {
	c.event = e
	f()
	c.event = nil
}

// requiredEvents returns the SQL of an event test that must be True for a contact to match.
// If negated is true, the test must be False instead; callers negate only tests of a count
// or of existence. The SQL has no NOT EXISTS, because SQLite would run that subquery for
// each contact, with an unsuitable index.
func (c *condition) requiredEvents(n *predicate.EventTest, negated bool) string {
	some, none := existenceTest(n)
	if negated {
		some, none = none, some
	}
	if none || !some && (negated || n.Kind == predicate.Count && ofNone(n)) {
		// The test may be true for contacts without events. An IN condition cannot find these
		// contacts, because the aggregation has no group for them.
		test := c.eventTest(n)
		if negated {
			return `(NOT ` + test + `)`
		}
		return test
	}
	var text string
	c.withEvent(&n.Source.Event, func() {
		from, where, by := c.events(&n.Source)
		of := `SELECT ` + by.column + ` FROM ` + from + ` WHERE ` + where
		if !some {
			of = c.groups(of + ` GROUP BY ` + by.column + ` HAVING ` + c.figureTest(n, c.figure(n)))
		}
		text = by.contact + ` IN (` + of + `)`
	})
	return text
}

// ofNone reports whether the event test n is true for a contact without events (a count of
// 0).
func ofNone(n *predicate.EventTest) bool { return predicate.Holds(n.Op, 0, n.Number) }

// existenceTest reports whether an event test is equivalent to "at least one event" (some)
// or to "no event" (none). For any other event test, both results are false.
func existenceTest(n *predicate.EventTest) (some, none bool) {
	if n.Kind == predicate.Exists {
		return true, false
	}
	if n.Kind != predicate.Count {
		return false, false
	}
	zero, one, many := ofNone(n), predicate.Holds(n.Op, 1, n.Number), predicate.Holds(n.Op, 1e15, n.Number)
	// "= n" and "!= n" are equivalent to a test of existence only for n = 0
	if n.Op == predicate.Equal || n.Op == predicate.NotEqual {
		if n.Number != 0 {
			return false, false
		}
	}
	return !zero && one && many, zero && !one && !many
}

// figure returns the SQL aggregate that the event test n compares, such as count(*). It is
// computed from the events of one contact.
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

// figureTest returns the SQL that compares an aggregate of events with the operand of the
// test.
func (c *condition) figureTest(n *predicate.EventTest, figure string) string {
	if n.Kind == predicate.Last || n.Kind == predicate.First {
		return `(` + figure + ` ` + operator(n.Op) + ` ` + c.micros(n.Time.At(c.now)) + `)`
	}
	return `(` + figure + ` ` + operator(n.Op) + ` ` + c.number(n.Number) + `)`
}

// eventTest returns the SQL of an event test anywhere in the predicate. It joins the
// aggregates of all contacts with events; for other contacts they are NULL. A subquery for
// each contact would be far slower.
func (c *condition) eventTest(n *predicate.EventTest) string {
	c.aggregated++
	alias := `a` + strconv.Itoa(c.aggregated)
	c.withEvent(&n.Source.Event, func() {
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

// groups returns the subquery, which aggregates events by contact, in a form that
// PostgreSQL runs once. If the query tests only given contacts, groups materializes the
// subquery. A query for all contacts sets [engine.Composed.AggregatesOnce] instead.
func (c *condition) groups(subquery string) string {
	c.grouped = true
	if !c.narrowed {
		return subquery
	}
	return `/*pg WITH g AS MATERIALIZED (*/ ` + subquery + ` /*pg ) SELECT * FROM g*/`
}
