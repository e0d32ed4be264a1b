package segments

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// TestResults evaluates tests of a predicate for one contact, in one statement. Each test
// has the same SQL as in the query for the members of a segment.
func (s MemberStore) TestResults(ctx context.Context, q segments.Question, tests []predicate.Node) ([]segments.TestResult, error) {
	contacts, err := engine.JSONParameter(q.Contacts)
	if err != nil {
		return nil, err
	}
	c := condition{dialect: s.db.Dialect(), slots: q.Slots, now: q.Now, narrowed: true, demanded: map[string]bool{}, args: []any{q.OrgID, contacts}}
	columns, results := make([]string, 0, 2*len(tests)+2), make([]testColumns, len(tests))
	for i, test := range tests {
		truth, value := c.testAndValue(test)
		columns, results[i] = append(columns, truth, value), columnsFor(test)
	}
	c.needsContact = true
	columns = append(columns, `c.unsubscribe_all`, `c.stub`)
	if c.fault != nil {
		return nil, c.fault
	}
	text := `SELECT ` + strings.Join(columns, `, `) + ` FROM contact_slots AS s JOIN contacts AS c ON c.org_id = s.org_id AND c.id = s.contact_id` +
		c.aggregates.String() + ` WHERE s.org_id = ` + orgParameter + ` AND s.contact_id IN ` + givenContacts
	rows, err := engine.Rows(ctx, s.db, c.query("tests of a predicate", text), func(rows *sql.Rows) ([]segments.TestResult, error) {
		return scanResults(rows, results)
	})
	if err == nil && len(rows) != 1 {
		return nil, core.NotFound("contact")
	}
	if err != nil {
		return nil, err
	}
	return rows[0], nil
}

// testAndValue returns the SQL of a test, and the SQL of the value that it tests. The value
// of an event test is the aggregate, and that of a topic is the contact's choice.
func (c *condition) testAndValue(n predicate.Node) (truth, value string) {
	if field, ok := predicate.FieldOf(n); ok {
		return c.node(n), c.wholeField(field)
	}
	switch n := n.(type) {
	case *predicate.EventTest:
		truth = c.node(n)
		value = `a` + strconv.Itoa(c.aggregated) + `.figure`
		if n.Kind == predicate.Count || n.Kind == predicate.Exists {
			value = `coalesce(` + value + `, 0)`
		}
		return truth, value
	case *predicate.Consent:
		if n.Topic != "" {
			return c.node(n), `(SELECT x.subscription FROM contact_topics AS x WHERE x.org_id = ` + orgParameter +
				` AND x.contact_id = s.contact_id AND x.topic = ` + c.parameter(n.Topic) + `)`
		}
	}
	return c.node(n), `CAST(NULL AS text)`
}

// valueColumn scans a column with a value of the type in the field of. Other fields are set
// by the scan.
type valueColumn struct {
	of     predicate.Type
	text   sql.NullString
	number sql.NullFloat64
	micros sql.NullInt64
}

// place returns where to scan the column.
func (c *valueColumn) place() any {
	switch c.of {
	case predicate.Number, predicate.Bool:
		return &c.number
	case predicate.Datetime:
		return &c.micros
	}
	return &c.text
}

// value converts the column. It returns nil for NULL.
func (c *valueColumn) value() *predicate.Value {
	switch {
	case c.text.Valid:
		return &predicate.Value{Type: predicate.String, Text: c.text.String}
	case c.number.Valid && c.of == predicate.Bool:
		return &predicate.Value{Type: predicate.Bool, Bool: c.number.Float64 != 0}
	case c.number.Valid:
		return &predicate.Value{Type: predicate.Number, Number: c.number.Float64}
	case c.micros.Valid:
		return &predicate.Value{Type: predicate.Datetime, Moment: predicate.Moment{Micros: c.micros.Int64}}
	}
	return nil
}

// testColumns has the two columns of a result row for one test: its truth and its value.
type testColumns struct {
	truth sql.NullBool
	valueColumn
}

// columnsFor returns empty columns for a test.
func columnsFor(n predicate.Node) testColumns {
	return testColumns{valueColumn: valueColumn{of: typeOfValue(n)}}
}

// typeOfValue returns the type of the value that a test tests. The values of consent tests
// and memberships are texts.
func typeOfValue(n predicate.Node) predicate.Type {
	if field, ok := predicate.FieldOf(n); ok {
		return field.Type
	}
	test, ok := n.(*predicate.EventTest)
	switch {
	case !ok:
		return predicate.String
	case test.Kind == predicate.Last || test.Kind == predicate.First:
		return predicate.Datetime
	}
	return predicate.Number
}

// result converts the columns of a row.
func (c *testColumns) result() segments.TestResult {
	r := segments.TestResult{Truth: predicate.Unknown, Value: c.value()}
	if c.truth.Valid {
		r.Truth = predicate.False
		if c.truth.Bool {
			r.Truth = predicate.True
		}
	}
	return r
}

func scanResults(rows *sql.Rows, columns []testColumns) ([]segments.TestResult, error) {
	var unsubscribedAll, stub bool
	places := make([]any, 0, 2*len(columns)+2)
	for i := range columns {
		places = append(places, &columns[i].truth, columns[i].place())
	}
	if err := rows.Scan(append(places, &unsubscribedAll, &stub)...); err != nil {
		return nil, fmt.Errorf("storage: tests of a predicate: %w", err)
	}
	results := make([]segments.TestResult, len(columns))
	for i := range columns {
		results[i] = columns[i].result()
		results[i].UnsubscribedFromAll, results[i].Stub = unsubscribedAll, stub
	}
	return results, nil
}
