package contacts

import (
	"context"
	"database/sql"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/membership"
	"github.com/mailhelm/mailhelm/storage/slots"
)

var _ contacts.SearchStore = Store{}

// FindContacts reads the contacts through the index contacts_newest, and tests the other
// filters row by row. It stops at the limit, so filters that match often are fast.
func (s Store) FindContacts(ctx context.Context, orgID string, f contacts.SearchFilter) ([]contacts.Contact, error) {
	exceptions, err := slots.Exceptions(ctx, s.db, orgID)
	if err != nil {
		return nil, err
	}
	q, matchable, err := searchOf(orgID, f, exceptions)
	if err != nil || !matchable {
		return nil, err
	}
	if f.After != nil {
		q.where(`(c.created_at, c.id) < (` + q.parameter(engine.At(f.After.At)) + `, ` + q.parameter(f.After.ID) + `)`)
	}
	text := `SELECT ` + ColumnsSQL("c.") + ` FROM contacts AS c WHERE ` + q.condition() + ` ORDER BY c.created_at DESC, c.id DESC LIMIT ` + q.parameter(f.Limit)
	rows, err := engine.Rows(ctx, s.db, engine.Composed{Name: "find contacts", Text: text, Args: q.args}, func(rows *sql.Rows) (Row, error) {
		var row Row
		err := rows.Scan(row.targets()...)
		return row, err
	})
	if err != nil {
		return nil, err
	}
	found := make([]contacts.Contact, len(rows))
	for i, row := range rows {
		if found[i], err = row.Contact(); err != nil {
			return nil, err
		}
		found[i].Attributes, found[i].Hidden = attributes.Show(found[i].Attributes, exceptions)
	}
	return found, nil
}

// CountFound counts the contacts that match, up to most.
func (s Store) CountFound(ctx context.Context, orgID string, f contacts.SearchFilter, most int) (int, error) {
	exceptions, err := slots.Exceptions(ctx, s.db, orgID)
	if err != nil {
		return 0, err
	}
	q, matchable, err := searchOf(orgID, f, exceptions)
	if err != nil || !matchable {
		return 0, err
	}
	text := `SELECT count(*) FROM (SELECT 1 AS one FROM contacts AS c WHERE ` + q.condition() + ` LIMIT ` + q.parameter(most) + `) AS counted`
	counts, err := engine.Rows(ctx, s.db, engine.Composed{Name: "count found contacts", Text: text, Args: q.args}, func(rows *sql.Rows) (int, error) {
		var n int
		err := rows.Scan(&n)
		return n, err
	})
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}

// listKeys selects the static lists of the contacts whose ids are in $2.
var listKeys = engine.Register("list keys of contacts", `
	SELECT m.contact_id, l.key FROM list_members AS m
	JOIN lists AS l ON l.org_id = m.org_id AND l.id = m.list_id
	WHERE m.org_id = $1 AND m.contact_id IN (SELECT j.atom FROM json_each(CAST($2 AS text)) AS j)
	ORDER BY m.contact_id, l.key`)

// listKeyRow is a result row of listKeys.
type listKeyRow struct {
	Contact string `db:"contact_id"`
	Key     string `db:"key"`
}

func (s Store) ListKeys(ctx context.Context, orgID string, contactIDs []string) (map[string][]string, error) {
	ids, err := engine.JSONParameter(contactIDs)
	if err != nil {
		return nil, err
	}
	rows, err := engine.List[listKeyRow](ctx, s.db, listKeys, orgID, ids)
	keys := map[string][]string{}
	for _, row := range rows {
		keys[row.Contact] = append(keys[row.Contact], row.Key)
	}
	return keys, err
}

// search is the SQL condition on a row c of contacts, with its arguments.
type search struct {
	terms []string
	args  []any
}

func (q *search) where(term string) { q.terms = append(q.terms, term) }

func (q *search) condition() string { return strings.Join(q.terms, ` AND `) }

// parameter adds an argument and returns its place in the SQL.
func (q *search) parameter(v any) string {
	q.args = append(q.args, v)
	return "$" + strconv.Itoa(len(q.args))
}

// searchOf returns the condition of a filter. matchable is false if no contact can match.
func searchOf(orgID string, f contacts.SearchFilter, exceptions []attributes.Exception) (q *search, matchable bool, err error) { //nolint:nonamedreturns // says which
	q = &search{}
	q.where(`c.org_id = ` + q.parameter(orgID))
	status := contacts.Active
	if f.State == contacts.OnlyArchived {
		status = contacts.Archived
	}
	q.where(`c.status = ` + q.parameter(string(status)))
	switch f.State {
	case contacts.OnlyMailable:
		q.where(membership.IsMailable)
	case contacts.Unmailable:
		q.where(`NOT ` + membership.IsMailable)
	}
	if f.List != "" {
		q.where(`EXISTS (SELECT 1 FROM list_members AS m WHERE m.org_id = c.org_id AND m.list_id = ` + q.parameter(f.List) + ` AND m.contact_id = c.id)`)
	}
	if f.Segment != "" {
		q.where(`EXISTS (SELECT 1 FROM segment_members AS m WHERE m.org_id = c.org_id AND m.segment_id = ` + q.parameter(f.Segment) + ` AND m.contact_id = c.id)`)
	}
	q.topic(f)
	if f.AttributeKey != "" {
		if matchable, err := q.attribute(f.AttributeKey, f.AttributeValue, exceptions); err != nil || !matchable {
			return q, false, err
		}
	}
	q.text(f)
	return q, true, nil
}

// topic adds the test of a topic: the explicit choice, or else the topic's default.
func (q *search) topic(f contacts.SearchFilter) {
	if f.Topic == "" {
		return
	}
	subscription := f.Subscription
	if subscription == "" {
		subscription = sending.OptIn
	}
	topic, wanted := q.parameter(f.Topic), q.parameter(string(subscription))
	chosen := `SELECT 1 FROM contact_topics AS p WHERE p.org_id = c.org_id AND p.contact_id = c.id AND p.topic = ` + topic
	q.where(`(EXISTS (` + chosen + ` AND p.subscription = ` + wanted + `)
		OR EXISTS (SELECT 1 FROM topics AS t WHERE t.org_id = c.org_id AND t.name = ` + topic + ` AND t.default_subscription = ` + wanted + `)
		AND NOT EXISTS (` + chosen + `))`)
	if subscription == sending.OptIn {
		q.where(`NOT c.stub`)
	}
}

// attribute adds the test that an attribute has a value, which is compared as JSON. It
// returns false if no contact can match.
func (q *search) attribute(key, value string, exceptions []attributes.Exception) (bool, error) {
	if strings.ContainsFunc(key, func(r rune) bool { return !inAttributeName(r) }) || hides(exceptions, key, &value) {
		return false, nil
	}
	asString, asScalar, err := jsonForms(&value)
	q.where(jsonOf(key) + ` IN (` + q.parameter(asString) + `, ` + q.parameter(asScalar) + `)`)
	return true, err
}

// jsonOf returns the SQL expression for the JSON text of an attribute's value. key must have
// characters of attribute names only.
func jsonOf(key string) string {
	return `CAST(c.attributes/*pg ::json*/ -> '` + key + `' AS text)`
}

// text adds the search for a text: the contact's whole id, or a part of its address,
// external id or name.
func (q *search) text(f contacts.SearchFilter) {
	if f.Text == "" {
		return
	}
	if core.IsID(f.Text) {
		q.where(`(c.id = ` + q.parameter(f.Text) + ` OR c.external_id = ` + q.parameter(f.Text) + `)`)
		return
	}
	named := nameSQL(f.Names)
	var terms []string
	for _, form := range letterForms(f.Text) {
		pattern := q.parameter(engine.LikePattern(form))
		terms = append(terms, contains(`c.email`, pattern), contains(`coalesce(c.external_id, '')`, pattern))
		if named != "" {
			terms = append(terms, contains(named, pattern))
		}
	}
	terms = append(terms, `c.email_key LIKE `+q.parameter(engine.LikePattern(keyPart(f.Text)))+` ESCAPE '\'`)
	q.where(`(` + strings.Join(terms, ` OR `) + `)`)
}

// keyPart returns a part of an address in the form in which keys of addresses have it. A
// part without "@" may be the beginning of an internationalized domain.
func keyPart(text string) string {
	if strings.Contains(text, "@") {
		return contacts.EmailKey(text)
	}
	return strings.TrimPrefix(contacts.EmailKey("x@"+text), "x@")
}

// contains returns the SQL test whether a text in lower case matches the pattern. The cast
// to bytetext makes PostgreSQL lower ASCII letters only. LIKE of SQLite ignores the case of
// ASCII letters itself; a copy of each text in lower case would take twice the time.
func contains(text, pattern string) string {
	return `/*pg lower(CAST(*/` + text + ` /*pg AS bytetext))*/ LIKE ` + pattern + ` ESCAPE '\'`
}

// nameSQL returns the SQL expression for the name of a contact, from the values of these
// attributes. It returns "" for no attributes. SQLite reads them with its own operator,
// which is faster than the function that PostgreSQL needs for texts with invalid escapes.
func nameSQL(names []string) string {
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = `coalesce(/*pg predicate_string(c.attributes::json -> '` + name + `') --*/c.attributes ->> '` + name + "'\n, '')"
	}
	return strings.Join(parts, ` || ' ' || `)
}

// letterForms returns the spellings of a text for which to search. The databases lower ASCII
// letters only, so other letters are searched as written, in lower case, and with a capital
// at the beginning.
func letterForms(text string) []string {
	forms := []string{lowerASCII(text)}
	first, size := utf8.DecodeRuneInString(text)
	lower := strings.ToLower(text)
	for _, form := range []string{lower, lowerASCII(strings.ToUpper(string(first)) + strings.ToLower(text[size:]))} {
		if form != forms[0] && form != forms[len(forms)-1] {
			forms = append(forms, form)
		}
	}
	return forms
}

// lowerASCII returns the text with ASCII letters in lower case.
func lowerASCII(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
}
