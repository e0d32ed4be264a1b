package segments

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/membership"
)

// perRow returns an SQL FROM item that is joined to the items before it, and the WHERE
// condition of the query. table is a table with an alias, such as "contacts AS c". For each
// row of the items before, it has the rows of the table that satisfy the condition. The
// OFFSET of the LATERAL subquery forces PostgreSQL to find these rows by index: without
// statistics PostgreSQL would read all rows of the organization. SQLite keeps the order of a
// CROSS JOIN.
func perRow(table, condition string) (from, where string) {
	alias := table[strings.LastIndexByte(table, ' ')+1:]
	return ` CROSS JOIN /*pg LATERAL (SELECT ` + alias + `.* FROM*/ ` + table + ` /*pg WHERE ` + condition + ` OFFSET 0) AS ` + alias + `*/`, condition
}

// selectPerRow returns a query for the columns. given has the FROM items before the item of
// perRow, and table and condition are the parameters of perRow.
func selectPerRow(columns, given, table, condition string) string {
	from, where := perRow(table, condition)
	return `SELECT ` + columns + ` FROM ` + given + from + ` WHERE ` + where
}

// eachOf returns an SQL FROM item with the elements of a JSON array in the column atom.
func eachOf(parameter, alias string) string {
	return `json_each(CAST(` + parameter + ` AS text)) AS ` + alias
}

// In these statements $1 is a JSON array of contact ids.
var (
	subjectTopics = engine.Register("topics of subjects", selectPerRow(`x.contact_id, x.topic, x.subscription`,
		eachOf(`$1`, `j`), `contact_topics AS x`, `x.org_id = $2 AND x.contact_id = CAST(j.atom AS bytetext)`))
	subjectLists    = engine.Register("lists of subjects", setsOfSubjects("list_members", "list_id"))
	subjectSegments = engine.Register("segments of subjects", setsOfSubjects("segment_members", "segment_id"))
)

// setsOfSubjects returns a query for the lists or segments, among those whose ids are in the
// JSON array $3, that contain the contacts. The ids in $3 are not part of the condition of
// perRow, because PostgreSQL without statistics would read all members of a list.
func setsOfSubjects(table, set string) string {
	return selectPerRow(`x.contact_id, x.`+set+` AS set_id`, eachOf(`$1`, `j`), table+` AS x`,
		`x.org_id = $2 AND x.contact_id = CAST(j.atom AS bytetext)`) + ` AND x.` + set + ` IN (SELECT k.atom FROM ` + eachOf(`$3`, `k`) + `)`
}

// SubjectStore reads contacts for the evaluation of predicates in memory.
type SubjectStore struct{ db *engine.DB }

var _ segments.SubjectStore = SubjectStore{}

// NewSubjectStore returns the store on the database.
func NewSubjectStore(db *engine.DB) SubjectStore { return SubjectStore{db} }

func (s SubjectStore) Matching(ctx context.Context, q segments.Question, after string, limit int) ([]string, error) {
	c, err := conditionOn(s.db, &q)
	if err != nil {
		return nil, err
	}
	text := c.selectQuery(`s.contact_id`)
	if after != "" {
		text += ` AND s.contact_id > ` + c.parameter(after)
	}
	text += ` ORDER BY s.contact_id`
	if limit > 0 {
		text += ` LIMIT ` + c.parameter(limit)
	}
	return engine.Rows(ctx, s.db, c.query("page of matching contacts", text), scanID)
}

func (s SubjectStore) Subjects(ctx context.Context, q segments.SubjectQuery) (map[string]predicate.Subject, error) {
	if len(q.Contacts) == 0 {
		return map[string]predicate.Subject{}, nil
	}
	l := loader{db: s.db, query: q, subjects: map[string]*predicate.Subject{}, byAddress: map[string]*predicate.Subject{}}
	for _, load := range []func(context.Context) error{
		l.loadContacts, l.loadTopics, l.loadSets, l.loadActivities, l.loadMessageEvents,
	} {
		if err := load(ctx); err != nil {
			return nil, err
		}
		if len(l.subjects) == 0 {
			break
		}
	}
	subjects := make(map[string]predicate.Subject, len(l.subjects))
	for id, subject := range l.subjects {
		subjects[id] = *subject
	}
	return subjects, nil
}

// loader holds the state of one call of Subjects. loadContacts sets ids, the JSON array of
// the ids of the contacts in subjects. The map byAddress has the same subjects by the
// contacts' address keys.
type loader struct {
	db                  *engine.DB
	query               segments.SubjectQuery
	ids                 string
	subjects, byAddress map[string]*predicate.Subject
}

// loadContacts reads the contacts themselves, with their attributes. An attribute with a slot
// is read from there, as in the SQL of predicates. The other attributes are read from the
// JSON of the contact.
func (l *loader) loadContacts(ctx context.Context) error {
	given, err := engine.JSONParameter(slices.Compact(slices.Sorted(slices.Values(l.query.Contacts))))
	if err != nil {
		return err
	}
	c := condition{dialect: l.db.Dialect(), slots: l.query.Schema.Slots, args: []any{l.query.OrgID, given}}
	slotted, rest := l.attributes()
	columns := []string{
		`s.contact_id`, `c.email`, `c.email_key`, `c.unsubscribe_all`, `c.stub`, c.consent(&predicate.Consent{Kind: predicate.Suppressed}),
	}
	for _, f := range slotted {
		columns = append(columns, c.wholeField(f))
	}
	if len(rest) > 0 {
		columns = append(columns, `c.attributes`)
	}
	if c.fault != nil {
		return c.fault
	}
	slots, isSlots := perRow(`contact_slots AS s`, `s.org_id = `+orgParameter+` AND s.contact_id = CAST(j.atom AS bytetext)`)
	contacts, isContact := perRow(`contacts AS c`, `c.org_id = `+orgParameter+` AND c.id = s.contact_id`)
	text := `SELECT ` + strings.Join(columns, `, `) + ` FROM ` + eachOf(contactsParameter, `j`) + slots + contacts + ` WHERE ` + isSlots + ` AND ` + isContact
	found, err := engine.Rows(ctx, l.db, c.query("subjects", text), func(rows *sql.Rows) (subjectRow, error) {
		return scanSubject(rows, slotted, rest)
	})
	if err != nil {
		return err
	}
	ids := make([]string, len(found))
	for i, row := range found {
		ids[i], l.subjects[row.id], l.byAddress[row.key] = row.id, row.subject, row.subject
	}
	l.ids, err = engine.JSONParameter(ids)
	return err
}

// attributes returns the attributes to read, with their types: those with a slot, and the
// rest. A type is never Enum, because predicates treat an enum as a string.
func (l *loader) attributes() (slotted, rest []predicate.Field) {
	schema, names := l.query.Schema, l.query.Refs.Attributes
	if l.query.AllAttributes {
		names = slices.Sorted(maps.Keys(schema.Attributes))
	}
	for _, name := range names {
		registered, ok := schema.Attributes[name]
		if !ok {
			continue
		}
		f := predicate.Field{Source: predicate.Attribute, Name: name, Type: registered.Type}
		if f.Type == predicate.Enum {
			f.Type = predicate.String
		}
		if schema.Slots[name] != "" {
			slotted = append(slotted, f)
		} else {
			rest = append(rest, f)
		}
	}
	return slotted, rest
}

// subjectRow is a contact with its id, its address key and its attributes.
type subjectRow struct {
	id, key string
	subject *predicate.Subject
}

// scanSubject reads the current row of the query in loadContacts.
func scanSubject(rows *sql.Rows, slotted, rest []predicate.Field) (subjectRow, error) {
	var attributes string
	subject := &predicate.Subject{Attributes: map[string]predicate.Value{}}
	row := subjectRow{subject: subject}
	places := []any{&row.id, &subject.Email, &row.key, &subject.UnsubscribedFromAll, &subject.Stub, &subject.Suppressed}
	columns := make([]valueColumn, len(slotted))
	for i, f := range slotted {
		columns[i].of = f.Type
		places = append(places, columns[i].place())
	}
	if len(rest) > 0 {
		places = append(places, &attributes)
	}
	if err := rows.Scan(places...); err != nil {
		return row, err
	}
	for i, f := range slotted {
		if v := columns[i].value(); v != nil {
			subject.Attributes[f.Name] = *v
		}
	}
	if err := addJSONValues(subject.Attributes, attributes, rest); err != nil {
		return row, fmt.Errorf("attributes of contact %s: %w", row.id, err)
	}
	return row, nil
}

// addJSONValues adds to values the fields that a JSON object contains with the right type.
func addJSONValues(values map[string]predicate.Value, object string, fields []predicate.Field) error {
	if len(fields) == 0 {
		return nil
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal([]byte(object), &raw); err != nil {
		return err
	}
	for _, f := range fields {
		if v, ok := jsonValue(string(raw[f.Name]), f.Type); ok {
			values[f.Name] = v
		}
	}
	return nil
}

func (l *loader) loadTopics(ctx context.Context) error {
	type topicRow struct {
		Contact string               `db:"contact_id"`
		Topic   string               `db:"topic"`
		Choice  sending.Subscription `db:"subscription"`
	}
	rows, err := engine.List[topicRow](ctx, l.db, subjectTopics, l.ids, l.query.OrgID)
	for _, row := range rows {
		if subject := l.subjects[row.Contact]; row.Choice == sending.OptIn || row.Choice == sending.OptOut {
			add(&subject.Topics, row.Topic, row.Choice == sending.OptIn)
		}
	}
	return err
}

// loadSets reads which of the lists and segments in the references contain the contacts.
func (l *loader) loadSets(ctx context.Context) error {
	for _, kind := range []struct {
		ids  []string
		by   *engine.Statement
		sets func(*predicate.Subject) *map[string]bool
	}{
		{l.query.Refs.Lists, subjectLists, func(s *predicate.Subject) *map[string]bool { return &s.Lists }},
		{l.query.Refs.Segments, subjectSegments, func(s *predicate.Subject) *map[string]bool { return &s.Segments }},
	} {
		if len(kind.ids) == 0 {
			continue
		}
		sets, err := engine.JSONParameter(kind.ids)
		if err != nil {
			return err
		}
		rows, err := engine.List[membership.InSet](ctx, l.db, kind.by, l.ids, l.query.OrgID, sets)
		if err != nil {
			return err
		}
		for _, row := range rows {
			add(kind.sets(l.subjects[row.Contact]), row.Set, true)
		}
	}
	return nil
}

// add stores a value in a map, which it creates if it is nil.
func add(m *map[string]bool, key string, value bool) {
	if *m == nil {
		*m = map[string]bool{}
	}
	(*m)[key] = value
}
