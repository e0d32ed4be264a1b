package segments

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// condition is the SQL of one checked predicate: a query for the matching contacts. The
// truth value Unknown is NULL. The text is the same for both engines. It contains no values
// of the predicate, only checked names of slot columns and attributes.
//
// The query starts from contact_slots, which has a row for every active contact. It joins
// the table contacts only if the predicate needs it.
//
// It has many methods because each kind of node, field and value has one, and all of them
// add to the same query and its parameters.
type condition struct {
	// joins is the text after FROM contact_slots; where is the WHERE condition.
	joins, where string
	args         []any
	// dialect decides the form of JSON keys: a name on PostgreSQL, a path on SQLite.
	dialect engine.Dialect
	slots   map[string]string
	now     time.Time
	// narrowed is true if the query considers only the contacts whose ids are in an SQL
	// parameter, and not all active contacts.
	narrowed     bool
	needsContact bool
	// elsewhere counts the EXISTS tests on other tables; see exists.
	elsewhere int
	// demanded has the keys of the consent tests that the query already requires. A test
	// with such a key is omitted if it occurs again.
	demanded map[string]bool
	// byEvents is true if the predicate tests events in a term that must be True for a
	// contact to match.
	byEvents   bool
	aggregates strings.Builder
	aggregated int
	// grouped is true if the SQL aggregates events by contact.
	grouped bool
	event   *predicate.Event
	fault   error
}

// Marks in the SQL text of a condition, for its first two arguments: the organization, and
// the JSON array of the contact ids to test. numberParameters replaces the marks by $1, $2
// and so on.
const (
	orgParameter      = "\x01" + "0" + "\x02"
	contactsParameter = "\x01" + "1" + "\x02"
)

// givenContacts is an SQL subquery for a condition that tests only some contacts. It
// returns the ids of these contacts, which are the second argument in condition.args.
const givenContacts = `(SELECT j.atom FROM json_each(CAST(` + contactsParameter + ` AS text)) AS j)`

// conditionOf returns the SQL condition for the predicate of a segment query. contacts is
// the JSON array of the contact ids to test, or "" for all contacts. It returns an error
// for an invalid slot or attribute name, which only a bug can cause.
func conditionOf(e engine.Dialect, q *segments.Question, contacts string) (condition, error) {
	c := condition{dialect: e, slots: q.Slots, now: q.Now, narrowed: q.Contacts != nil, demanded: map[string]bool{}, args: []any{q.OrgID, contacts}}
	test := c.requiredTest(q.Predicate.Root)
	if c.fault != nil {
		return condition{}, c.fault
	}
	c.where = `s.org_id = ` + orgParameter
	if c.narrowed {
		c.where += ` AND s.contact_id IN ` + givenContacts
	}
	c.where += ` AND ` + test
	if c.needsContact {
		c.joins = ` JOIN contacts AS c ON c.org_id = s.org_id AND c.id = s.contact_id`
	}
	c.joins += c.aggregates.String()
	return c, nil
}

// selectQuery returns a query for columns of contact_slots (alias s) of the matching
// contacts. It contains parameter marks, which numberParameters must replace.
func (c *condition) selectQuery(columns string) string {
	return `SELECT ` + columns + ` FROM contact_slots AS s` + c.joins + ` WHERE ` + c.where
}

// query returns a query that the engine can run. text is SQL with the marks that the method
// parameter returned, which query replaces by $1, $2 and so on.
func (c *condition) query(name, text string) engine.Composed {
	numberedText, args := numberParameters(text, c.args)
	return engine.Composed{Name: name, Text: numberedText, Args: args, AggregatesOnce: c.grouped && !c.narrowed}
}

// parameter adds an argument and returns a mark for it. numberParameters replaces the mark
// by $1, $2 and so on when the text is complete.
func (c *condition) parameter(v any) string {
	c.args = append(c.args, v)
	return "\x01" + strconv.Itoa(len(c.args)-1) + "\x02"
}

// text, number and micros add an argument. They return the mark that numberParameters later
// replaces by the argument's number, with an SQL cast. The cast is for contexts in which
// SQL does not determine the type.
func (c *condition) text(s string) string { return `CAST(` + c.parameter(s) + ` AS text)` }

func (c *condition) number(n float64) string {
	return `CAST(` + c.parameter(n) + ` AS double precision)`
}
func (c *condition) micros(n int64) string { return `CAST(` + c.parameter(n) + ` AS bigint)` }

var places = regexp.MustCompile("\x01[0-9]+\x02")

// numberParameters replaces the marks that condition.parameter wrote into the text by $1,
// $2 and so on. It numbers them in the order of the text, because not every driver can bind
// arguments in another order. It omits arguments whose mark does not occur in the text.
func numberParameters(text string, args []any) (string, []any) {
	numbers, used := map[string]string{}, []any{}
	text = places.ReplaceAllStringFunc(text, func(place string) string {
		if _, ok := numbers[place]; !ok {
			at, _ := strconv.Atoi(place[1 : len(place)-1])
			used = append(used, args[at])
			numbers[place] = "$" + strconv.Itoa(len(used))
		}
		return numbers[place]
	})
	return text, used
}

// requiredTest returns the SQL of a test that must be True for a contact to match: the
// whole predicate, or a term of its outermost "and". For such a test False and Unknown are
// equivalent. So an event test becomes a semi-join (IN), for which the engine may read the
// events before the contacts.
func (c *condition) requiredTest(n predicate.Node) string {
	switch n := n.(type) {
	case *predicate.And:
		for _, term := range n.Terms {
			_, events := term.(*predicate.EventTest)
			c.byEvents = c.byEvents || events
		}
		return c.joinTerms(n.Terms, ` AND `, c.requiredTest)
	case *predicate.Not:
		switch test := n.Term.(type) {
		case *predicate.EventTest:
			if test.Kind <= predicate.Exists && c.event == nil {
				return c.requiredEvents(test, true)
			}
		case *predicate.Consent:
			return c.onceRequired(n, fmt.Sprint("not ", test.Kind, test.Topic))
		}
	case *predicate.Consent:
		return c.onceRequired(n, fmt.Sprint(n.Kind, n.Topic))
	case *predicate.EventTest:
		return c.requiredEvents(n, false)
	}
	return c.node(n)
}

// onceRequired returns the SQL of the test n. If an earlier call for this condition had the
// same key, it returns TRUE, because PostgreSQL would add a join for each repetition of the
// test.
func (c *condition) onceRequired(n predicate.Node, key string) string {
	if c.demanded[key] {
		return `TRUE`
	}
	c.demanded[key] = true
	return c.node(n)
}

// joinTerms returns one SQL expression in parentheses: the SQL of each term, joined by the
// given SQL operator, such as AND. The function each returns the SQL of one term.
func (c *condition) joinTerms(terms []predicate.Node, by string, each func(predicate.Node) string) string {
	texts := make([]string, len(terms))
	for i, term := range terms {
		texts[i] = each(term)
	}
	return `(` + strings.Join(texts, by) + `)`
}

// node returns the SQL of a test as a boolean expression. It is NULL if the truth value of
// the test is Unknown.
func (c *condition) node(n predicate.Node) string {
	switch n := n.(type) {
	case *predicate.And:
		return c.joinTerms(n.Terms, ` AND `, c.node)
	case *predicate.Or:
		return c.joinTerms(n.Terms, ` OR `, c.node)
	case *predicate.Not:
		return `(NOT ` + c.node(n.Term) + `)`
	case *predicate.Compare:
		return c.compare(n)
	case *predicate.In:
		values := make([]string, len(n.Values))
		field := c.fieldBeside(n.Field, n.Values...)
		for i, v := range n.Values {
			values[i] = c.value(v)
		}
		return `(` + field + ` IN (` + strings.Join(values, `, `) + `))`
	case *predicate.Match:
		return c.match(n)
	case *predicate.Known:
		if n.Want {
			return `(` + c.field(n.Field) + ` IS NOT NULL)`
		}
		return `(` + c.field(n.Field) + ` IS NULL)`
	case *predicate.Age:
		return c.age(n)
	case *predicate.EventTest:
		return c.eventTest(n)
	case *predicate.Consent:
		return c.consent(n)
	case *predicate.Membership:
		return c.membership(n)
	}
	return c.fail("node %T", n)
}

// fail records an error for a construct that has no SQL. Only the first error is kept. The
// returned text is never executed.
func (c *condition) fail(format string, args ...any) string {
	if c.fault == nil {
		c.fault = fmt.Errorf("storage: predicate: "+format, args...)
	}
	return `NULL`
}

// compare returns the SQL that compares a field with a literal. It is NULL if the field has
// no value.
func (c *condition) compare(n *predicate.Compare) string {
	return `(` + c.fieldBeside(n.Field, n.Value) + ` ` + operator(n.Op) + ` ` + c.value(n.Value) + `)`
}

// operator returns the SQL operator for an operator of the predicate language. Only
// NotEqual is written differently in SQL.
func operator(o predicate.Op) string {
	if o == predicate.NotEqual {
		return `<>`
	}
	return o.String()
}

// value adds a literal to the statement's arguments and returns the mark that stands for
// the argument in the SQL. A bool is 1 or 0, as in the slot columns. The SQL has no cast:
// the compared expression has a type, and a cast would keep SQLite from using the best
// index.
func (c *condition) value(v predicate.Value) string {
	switch v.Type {
	case predicate.String:
		return c.parameter(v.Text)
	case predicate.Number:
		return c.parameter(v.Number)
	case predicate.Bool:
		if v.Bool {
			return c.parameter(1.0)
		}
		return c.parameter(0.0)
	case predicate.Datetime:
		return c.parameter(v.Moment.At(c.now))
	}
	return c.fail("literal of type %v", v.Type)
}

// match returns the SQL of "starts with", "ends with" and "contains". It compares
// characters and not bytes, because both engines count characters alike. If the field's
// value is shorter than the text to find, substr returns fewer characters than that text
// has. The comparison is then false on both engines.
func (c *condition) match(n *predicate.Match) string {
	field, text := c.wholeField(n.Field), c.text(n.Text)
	if n.How == predicate.StartsWith {
		field = c.fieldBeside(n.Field, predicate.Value{Type: predicate.String, Text: n.Text})
	}
	switch n.How {
	case predicate.StartsWith:
		return `(substr(` + field + `, 1, length(` + text + `)) = ` + text + `)`
	case predicate.EndsWith:
		return `(substr(` + field + `, length(` + field + `) - length(` + text + `) + 1) = ` + text + `)`
	case predicate.Contains:
		return `(replace(` + field + `, ` + text + `, '') <> ` + field + `)`
	}
	return c.fail("match %d", n.How)
}

// age returns the SQL that tests the age of a field, such as the days since a time. The SQL
// compares the field with a time instead of computing its age, so that an index on the
// field can be used.
func (c *condition) age(n *predicate.Age) string {
	field, now := c.field(n.Field), c.now.UnixMicro()
	if n.Between {
		return `(` + field + ` BETWEEN ` + c.parameter(now-n.High.Micros()) + ` AND ` + c.parameter(now-n.Low.Micros()) + `)`
	}
	turned := map[predicate.Op]string{
		predicate.Equal: `=`, predicate.NotEqual: `<>`, predicate.Less: `>`, predicate.LessOrEqual: `>=`,
		predicate.Greater: `<`, predicate.GreaterOrEqual: `<=`,
	}
	return `(` + field + ` ` + turned[n.Op] + ` ` + c.parameter(now-n.Low.Micros()) + `)`
}

// consent returns the SQL that tests a contact's consent. The value of this SQL is never
// NULL.
func (c *condition) consent(n *predicate.Consent) string {
	c.needsContact = true
	switch n.Kind {
	case predicate.UnsubscribedAll:
		return `c.unsubscribe_all`
	case predicate.Suppressed:
		return `EXISTS (SELECT 1 FROM suppressed_addresses AS x WHERE x.org_id = ` + orgParameter + ` AND x.email_key = c.email_key)`
	}
	// Only the choice that differs from the topic's default is looked up: without an
	// explicit choice the default applies.
	choice, in, out := `OPT_IN`, ``, `NOT `
	if n.DefaultIn {
		choice, in, out = `OPT_OUT`, `NOT `, ``
	}
	chosen := c.exists(`contact_topics AS x WHERE x.org_id = ` + orgParameter + ` AND x.contact_id = s.contact_id AND x.topic = ` +
		c.parameter(n.Topic) + ` AND x.subscription = '` + choice + `'`)
	if n.Kind == predicate.OptedOut {
		return `(` + out + chosen + `)`
	}
	return `(NOT c.unsubscribe_all AND NOT c.stub AND ` + in + chosen + `)`
}

// membership returns the SQL that tests whether the contact is a member of a list or a
// segment, by primary key.
func (c *condition) membership(n *predicate.Membership) string {
	table, set := `list_members`, `list_id`
	if n.Segment {
		table, set = `segment_members`, `segment_id`
	}
	return c.exists(table + ` AS x WHERE x.org_id = ` + orgParameter + ` AND x.` + set + ` = ` + c.parameter(n.ID) + ` AND x.contact_id = s.contact_id`)
}

// joinable is the maximum number of EXISTS tests that [condition.exists] writes in one SQL
// condition. PostgreSQL may turn each of these tests into a join.
const joinable = 4

// exists returns the SQL that tests whether another table has a row for the contact.
// PostgreSQL turns each required EXISTS into a join, and takes minutes to plan some dozens
// of joins. Only the first tests of a query, up to the constant joinable, are therefore
// EXISTS. Later ones compare count(*), which PostgreSQL never turns into a join.
func (c *condition) exists(from string) string {
	if c.elsewhere++; c.elsewhere > joinable {
		return `((SELECT count(*) FROM ` + from + `) > 0)`
	}
	return `EXISTS (SELECT 1 FROM ` + from + `)`
}
