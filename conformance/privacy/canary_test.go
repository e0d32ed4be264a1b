package privacy_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/privacy"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// canary is a person whose data is in every table of the register. The rows of two canaries have
// the same form, so a test of one shows that the rows of the other stay.
type canary struct {
	org, contact, email, marker string
}

func newCanary(org, name string) canary {
	return canary{org: org, contact: core.NewID(), email: name + ".Person+x@Example.com", marker: "zyx-" + name}
}

func (c canary) key() string { return core.EmailKey(c.email) }

// traces returns the texts that must not be found anywhere after the canary was erased.
func (c canary) traces() []string { return []string{c.key(), c.contact, c.marker} }

// documents are texts that mention a canary at %s, by the change that rewrites them.
var documents = map[privacy.Change]string{
	privacy.Redact:   `{"note":"about %[1]s","id":"%[3]s"}`,
	privacy.Items:    `[{"email":"first@example.com"},{"email":"%[1]s","attributes":{"name":"%[2]s"}}]`,
	privacy.Outcomes: `[{"index":0,"status":"created"},{"index":1,"status":"created","email":"%[1]s","contact_id":"%[3]s","reason":"%[2]s"}]`,
	privacy.Rows:     `{"rows":[["%[1]s","%[2]s"],["other@example.com","Other"]]}`,
	privacy.Keep:     `{"id":"m","sender":"%[1]s","raw_key":"raw/%[2]s","subject":"%[2]s"}`,
}

// values returns the personal data of the canary for a row of a table.
func (c canary) values(t privacy.Table) map[string]string {
	values := map[string]string{}
	for _, column := range t.Data {
		if column.Of == "" {
			values[column.Name] = c.marker
		}
		if column.Change == privacy.PseudonymAddress {
			values[column.Name] = c.email
		}
		if column.Change.DependsOnValue() {
			values[column.Name] = c.document(column.Change)
		}
	}
	for _, m := range t.Find {
		switch m.By {
		case privacy.ByContact:
			values[m.Column] = c.contact
		case privacy.ByKey:
			values[m.Column] = c.key()
		case privacy.BySpelling:
			values[m.Column] = c.email
		case privacy.ByBytes:
			values[m.Column] = "email,name\n" + c.email + "," + c.marker + "\n"
		case privacy.ByMention:
			if !strings.ContainsAny(values[m.Column], "{[") {
				values[m.Column] = c.document(privacy.Keep)
			}
		}
	}
	return values
}

func (c canary) document(change privacy.Change) string {
	return fmt.Sprintf(documents[change], c.email, c.marker, c.contact)
}

// planted is a database with canaries in it.
type planted struct {
	*storage.DB
	columns map[string][]column
}

type column struct{ name, kind string }

// columnTypes lists the columns of all tables with their types.
var columnTypes = map[engine.Dialect]string{
	engine.SQLite: `SELECT m.name, c.name, lower(c.type) FROM sqlite_master AS m CROSS JOIN pragma_table_info(m.name) AS c
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' ORDER BY m.name, c.cid`,
	engine.PostgreSQL: `SELECT table_name, column_name, data_type FROM information_schema.columns
		WHERE table_schema = current_schema() AND table_name NOT IN (SELECT relname FROM pg_class WHERE relispartition) ORDER BY table_name, ordinal_position`,
}

func newPlanted(t *testing.T, db *storage.DB) planted {
	t.Helper()
	p := planted{db, map[string][]column{}}
	p.each(t, columnTypes[db.Dialect()], func(rows *sql.Rows) error {
		var table string
		var c column
		err := rows.Scan(&table, &c.name, &c.kind)
		p.columns[table] = append(p.columns[table], c)
		return err
	})
	return p
}

func (p planted) each(t *testing.T, query string, do func(*sql.Rows) error) {
	t.Helper()
	rows, err := p.Writer().QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := do(rows); err != nil {
			t.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

// parents are rows that rows of the register refer to by foreign keys.
var parents = []struct{ table, id string }{{"lists", "parent"}, {"segments", "parent"}, {"bulk_jobs", "parent"}, {"orgs", "parent"}}

// plant inserts a row with the canary's data into every table of the register, the contact
// first, because others refer to it.
func (p planted) plant(t *testing.T, c canary) {
	t.Helper()
	tables := privacy.OfRecipients()
	slices.SortStableFunc(tables, func(a, b privacy.Table) int { return rank(a.Name) - rank(b.Name) })
	for _, table := range tables {
		p.insert(t, c, table.Name, c.values(table))
	}
}

func rank(table string) int {
	return map[string]int{"contacts": -2, "contact_uploads": -1}[table]
}

// plantParents inserts the parents of an organization.
func (p planted) plantParents(t *testing.T, org string) {
	t.Helper()
	for _, parent := range parents {
		if parent.table != "orgs" {
			p.insert(t, canary{org: org, marker: parent.id}, parent.table, map[string]string{"id": parent.id, "key": parent.id})
		}
	}
}

// references are the values of columns that refer to parents.
var references = map[string]string{"list_id": "parent", "segment_id": "parent", "job_id": "parent"}

// insert inserts a row. Columns without a value get one of their type; texts among them are
// unique to the canary where that matters.
func (p planted) insert(t *testing.T, c canary, table string, values map[string]string) {
	t.Helper()
	var names, places []string
	var args []any
	for i, col := range p.columns[table] {
		value, given := values[col.name]
		var arg any = value
		switch {
		case col.name == "org_id":
			arg = c.org
		case references[col.name] != "" && table != "lists":
			arg = references[col.name]
		case table == "contact_upload_chunks" && col.name == "upload_id", table == "contact_uploads" && col.name == "id":
			arg = "upload-" + unrelated(c)
		case col.kind == "bytea" && given:
			arg = []byte(value)
		case col.kind == "bytea":
			arg = []byte(unrelated(c))
		case col.kind == "boolean":
			arg = false
		case strings.Contains(col.kind, "int"), strings.HasPrefix(col.kind, "double"):
			arg = int(c.marker[len(c.marker)-1]) // differs between canaries
		case !given:
			arg = unrelated(c)
		}
		names, places, args = append(names, col.name), append(places, fmt.Sprintf("$%d", i+1)), append(args, arg)
	}
	query := "INSERT INTO " + table + " (" + strings.Join(names, ", ") + ") VALUES (" + strings.Join(places, ", ") + ")"
	if _, err := p.Writer().ExecContext(t.Context(), query, args...); err != nil {
		t.Fatalf("%s: %v", table, err)
	}
}

// unrelated is a text that differs between canaries and tells nothing about them.
func unrelated(c canary) string {
	return "k" + fmt.Sprint(len(c.marker)) + string(c.marker[len(c.marker)-1])
}

// dump returns the rows of all tables as text, by table.
func (p planted) dump(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, table := range slices.Sorted(maps.Keys(p.columns)) {
		p.each(t, "SELECT * FROM "+table, func(rows *sql.Rows) error {
			names, err := rows.Columns()
			if err != nil {
				return err
			}
			values := make([]any, len(names))
			for i := range values {
				values[i] = new(any)
			}
			if err := rows.Scan(values...); err != nil {
				return err
			}
			row := make([]string, len(names))
			for i, value := range values {
				row[i] = fmt.Sprintf("%s=%s", names[i], printed(*value.(*any)))
			}
			all[table] = append(all[table], strings.Join(row, " "))
			return nil
		})
	}
	return all
}

func printed(value any) string {
	if b, ok := value.([]byte); ok {
		return string(b)
	}
	return fmt.Sprint(value)
}

// mentioning returns the rows that contain one of the texts, ignoring case.
func mentioning(dump map[string][]string, texts ...string) []string {
	var found []string
	for _, table := range slices.Sorted(maps.Keys(dump)) {
		for _, row := range dump[table] {
			if slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(strings.ToLower(row), text) }) {
				found = append(found, table+": "+row)
			}
		}
	}
	return found
}

// deletedObjects notes the objects that are deleted.
type deletedObjects struct{ deleted []string }

func (o *deletedObjects) DeleteObjects(_ context.Context, _, _ string, keys []string) error {
	o.deleted = append(o.deleted, keys...)
	return nil
}

// exported returns the export of a person as text.
func exported(t *testing.T, p *privacy.Privacy, c canary) string {
	t.Helper()
	var all []any
	s := privacy.NewSearch(c.org, privacy.Person{Key: c.key(), ContactID: c.contact})
	for _, table := range privacy.OfRecipients() {
		if err := p.Store.Each(t.Context(), s, table, func(row privacy.Row) error { all = append(all, row); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
