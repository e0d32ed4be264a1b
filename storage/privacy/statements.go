package privacy

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core/privacy"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// mentions is the number of texts by which a statement looks for mentions. Persons with fewer
// texts repeat one; see privacy.Person.Mentions.
const mentions = 5

// parameter is a value that a statement needs.
type parameter int

const (
	org parameter = iota
	contact
	key
	pseudonymID
	pseudonymAddress
	firstMention // and those of the other mentions after it
)

// query is a statement with the values that its parameters have, in their order.
type query struct {
	statement *engine.Statement
	values    []parameter
}

// args returns the arguments of the query.
func (q query) args(s privacy.Search) []any {
	texts := s.Person.Mentions()
	args := make([]any, len(q.values))
	for i, p := range q.values {
		switch p {
		case org:
			args[i] = s.OrgID
		case contact:
			args[i] = contactOf(s.Person)
		case key:
			args[i] = s.Person.Key
		case pseudonymID:
			args[i] = s.As.ID
		case pseudonymAddress:
			args[i] = s.As.Email
		default:
			args[i] = engine.LikePattern(texts[int(p-firstMention)%len(texts)])
		}
	}
	return args
}

// contactOf returns the id of a person's contact, or a text that no column has.
func contactOf(p privacy.Person) string {
	if p.ContactID == "" {
		return "no contact"
	}
	return p.ContactID
}

// builder writes a statement and numbers its parameters in the order of their first use.
type builder struct {
	text   strings.Builder
	values []parameter
}

func (b *builder) write(parts ...string) {
	for _, part := range parts {
		b.text.WriteString(part)
	}
}

// value returns the parameter with a value.
func (b *builder) value(p parameter) string {
	i := slices.Index(b.values, p)
	if i < 0 {
		i, b.values = len(b.values), append(b.values, p)
	}
	return "$" + strconv.Itoa(i+1)
}

func (b *builder) register(name string) query {
	return query{engine.Register(name, b.text.String()), b.values}
}

// where writes the condition that the rows of a person meet. SQL does not search
// bytes, so all rows of such a table meet it.
func (b *builder) where(t privacy.Table) {
	b.write(" WHERE org_id = ", b.value(org), " AND (")
	for i, m := range t.Find {
		if i > 0 {
			b.write(" OR ")
		}
		switch m.By {
		case privacy.ByContact:
			b.write(m.Column, " = ", b.value(contact))
		case privacy.ByKey:
			b.write(m.Column, " = ", b.value(key))
		case privacy.BySpelling:
			b.write("lower(", m.Column, ") = ", b.value(key))
		case privacy.ByBytes:
			b.write("TRUE")
		case privacy.ByMention:
			for n := range mentions {
				if n > 0 {
					b.write(" OR ")
				}
				b.write("lower(", m.Column, ") LIKE ", b.value(firstMention+parameter(n)), ` ESCAPE '\'`)
			}
		}
	}
	b.write(")")
}

// change writes the new value of a column whose change does not depend on the old value.
func (b *builder) change(c privacy.Column) {
	b.write(c.Name, " = ")
	switch c.Change {
	case privacy.PseudonymID:
		b.write("CASE WHEN ", c.Name, " = ", b.value(contact), " THEN CAST(", b.value(pseudonymID), " AS text) ELSE ", c.Name, " END")
	case privacy.PseudonymAddress:
		// Without the type PostgreSQL deduces a different one for each column.
		b.write("CAST(", b.value(pseudonymAddress), " AS text)")
	case privacy.Null:
		b.write("NULL")
	default:
		b.write("''")
	}
}

// inspected reports whether the rows of a person must be checked one by one.
func inspected(t privacy.Table) bool {
	return slices.ContainsFunc(t.Find, func(m privacy.Match) bool { return m.By == privacy.ByMention || m.By == privacy.ByBytes }) ||
		slices.ContainsFunc(t.Data, func(c privacy.Column) bool { return t.Erase == privacy.Rewrite && c.Change.DependsOnValue() })
}

// changed returns the columns that a rewrite changes.
func changed(t privacy.Table) []privacy.Column {
	return slices.DeleteFunc(slices.Clone(t.Data), func(c privacy.Column) bool { return t.Erase == privacy.Delete || c.Change == privacy.Keep })
}

// tableQueries has the statements of a table.
type tableQueries struct {
	// rows selects the rows of a person, with all columns that exports show and those that
	// inspect needs.
	rows query
	// count and erase work on the rows of a person at once. They are not set for inspected tables.
	count, erase query
	// eraseRow deletes or changes a row by its key. It is set for inspected tables.
	eraseRow *engine.Statement
}

func queriesOf(t privacy.Table) tableQueries {
	var q tableQueries
	var rows builder
	rows.write("SELECT ", strings.Join(selected(t), ", "), " FROM ", t.Name)
	rows.where(t)
	q.rows = rows.register("rows of a person in " + t.Name)
	if inspected(t) {
		q.eraseRow = engine.Register("erase row of "+t.Name, eraseRowSQL(t))
		return q
	}
	var count builder
	count.write("SELECT count(*) AS n FROM ", t.Name)
	count.where(t)
	q.count = count.register("count rows of a person in " + t.Name)
	var erase builder
	if t.Erase == privacy.Delete {
		erase.write("DELETE FROM ", t.Name)
	} else {
		erase.write("UPDATE ", t.Name, " SET ")
		for i, c := range changed(t) {
			if i > 0 {
				erase.write(", ")
			}
			erase.change(c)
		}
	}
	erase.where(t)
	q.erase = erase.register("erase person from " + t.Name)
	return q
}

// selected returns the columns that are read: all but secret ones, and those by which rows are
// found.
func selected(t privacy.Table) []string {
	var names []string
	for _, name := range t.Columns() {
		found := slices.ContainsFunc(t.Find, func(m privacy.Match) bool { return m.Column == name })
		secret := slices.ContainsFunc(t.Data, func(c privacy.Column) bool { return c.Name == name && c.Secret })
		if found || !secret {
			names = append(names, name)
		}
	}
	return names
}

// eraseRowSQL deletes a row, or sets its changed columns to the first parameters. The columns of
// the key are the last parameters, after the organization.
func eraseRowSQL(t privacy.Table) string {
	var sets []string
	n := 0
	for _, c := range changed(t) {
		n++
		sets = append(sets, c.Name+" = $"+strconv.Itoa(n))
	}
	text := "DELETE FROM " + t.Name
	if t.Erase == privacy.Rewrite {
		text = "UPDATE " + t.Name + " SET " + strings.Join(sets, ", ")
	}
	n++
	text += " WHERE org_id = $" + strconv.Itoa(n)
	for _, name := range strings.Fields(t.Key) {
		n++
		text += " AND " + name + " = $" + strconv.Itoa(n)
	}
	return text
}

// queries has the statements of all tables with rows of recipients and correspondents.
var queries = func() map[string]tableQueries {
	all := map[string]tableQueries{}
	for _, t := range privacy.OfRecipients() {
		all[t.Name] = queriesOf(t)
	}
	return all
}()
