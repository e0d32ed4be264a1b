package storage

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/mailhelm/mailhelm/storage/engine"
)

// contactColumn is a column of contacts that has a field in [contactRow].
type contactColumn struct {
	name string
	// cast is the SQL type that the column's value in JSON is cast to, "" for text.
	cast string
	// none is the SQL value of the column in a row of another kind; see contactWithLists.
	none string
	// isRead is false for a column that only conditions use. isChanged is false for a
	// column that is never updated.
	isRead, isChanged bool
	// field is the index of the struct field.
	field int
}

// contactTable lists the columns in the order of the fields.
var contactTable = columnsOfContacts()

func columnsOfContacts() []contactColumn {
	row := reflect.TypeFor[contactRow]()
	columns := make([]contactColumn, row.NumField())
	for i := range columns {
		f := row.Field(i)
		c := contactColumn{
			name: f.Tag.Get("db"), field: i, none: "''",
			isRead: f.Tag.Get("read") != "never", isChanged: f.Tag.Get("write") != "once" && f.Name != "ID",
		}
		switch f.Type.Kind() {
		case reflect.Bool:
			c.cast, c.none = "boolean", "FALSE"
		case reflect.Int64:
			c.cast, c.none = "bigint", "0"
		case reflect.Pointer:
			c.none = "NULL"
		}
		columns[i] = c
	}
	return columns
}

// fromJSON returns the SQL of the column's value in the JSON object v.
func (c contactColumn) fromJSON() string {
	value := `v ->> '` + c.name + `'`
	if c.cast == "" {
		return value
	}
	return `CAST(` + value + ` AS ` + c.cast + `)`
}

// joinColumns joins the results of text for each column with commas. It skips columns for
// which text returns "".
func joinColumns(text func(contactColumn) string) string {
	var texts []string
	for _, c := range contactTable {
		if t := text(c); t != "" {
			texts = append(texts, t)
		}
	}
	return strings.Join(texts, ", ")
}

// contactColumns returns the columns that a [contactRow] is scanned from. of is a table
// or alias with its dot, or "".
func contactColumns(of string) string {
	return joinColumns(func(c contactColumn) string {
		if !c.isRead {
			return ""
		}
		return of + c.name
	})
}

// contactPlaces returns as many SQL values as contactColumns has columns: the given
// values by column name, and none for the others.
func contactPlaces(values map[string]string) string {
	return joinColumns(func(c contactColumn) string {
		value, given := values[c.name]
		switch {
		case !c.isRead:
			return ""
		case given:
			return value
		}
		return c.none
	})
}

// insertContactsText returns the statement that inserts the records of a parameter. $1 is
// the organization.
func insertContactsText(parameter string) string {
	return `
		INSERT INTO contacts (org_id, ` + joinColumns(func(c contactColumn) string { return c.name }) + `)
		SELECT $1, ` + joinColumns(contactColumn.fromJSON) + `
		FROM ` + engine.ParameterRows(parameter) + ` WHERE TRUE`
}

// insertContactText returns the statement that inserts one record. $1 is the
// organization, and the values follow.
func insertContactText() string {
	next := 1
	return `
		INSERT INTO contacts (org_id, ` + joinColumns(func(c contactColumn) string { return c.name }) + `)
		VALUES ($1, ` + joinColumns(func(contactColumn) string { next++; return fmt.Sprintf("$%d", next) }) + `)`
}

// setContactText returns the SET list of the columns that change; text returns the value
// of each.
func setContactText(text func(contactColumn) string) string {
	return joinColumns(func(c contactColumn) string {
		if !c.isChanged {
			return ""
		}
		return c.name + ` = ` + text(c)
	})
}

// updateContactText returns the statement that updates one record. The changed values
// come first, then the organization and the id. The statement itself checks for another
// owner of the address and external id, because a unique violation would end a
// transaction on PostgreSQL.
func updateContactText() string {
	places := map[string]string{}
	set := setContactText(func(c contactColumn) string {
		places[c.name] = fmt.Sprintf("$%d", len(places)+1)
		return places[c.name]
	})
	org, id := fmt.Sprintf("$%d", len(places)+1), fmt.Sprintf("$%d", len(places)+2)
	return `
		UPDATE contacts SET ` + set + `
		WHERE org_id = ` + org + ` AND id = ` + id + ` AND NOT EXISTS (
			SELECT 1 FROM contacts AS other
			WHERE other.org_id = ` + org + ` AND other.id <> ` + id + `
			AND (other.email_key = ` + places["email_key"] + ` OR other.external_id = ` + places["external_id"] + `))`
}

// values returns the record's values in the order of contactTable.
func (r *contactRow) values() []any {
	row := reflect.ValueOf(r).Elem()
	all := make([]any, len(contactTable))
	for i, c := range contactTable {
		all[i] = row.Field(c.field).Interface()
	}
	return all
}

// changes returns the values of the columns that change, in the order of contactTable.
func (r *contactRow) changes() []any {
	row := reflect.ValueOf(r).Elem()
	all := make([]any, 0, len(contactTable))
	for _, c := range contactTable {
		if c.isChanged {
			all = append(all, row.Field(c.field).Interface())
		}
	}
	return all
}

// targets returns the pointers that contactColumns are scanned to.
func (r *contactRow) targets() []any {
	row := reflect.ValueOf(r).Elem()
	all := make([]any, 0, len(contactTable))
	for _, c := range contactTable {
		if c.isRead {
			all = append(all, row.Field(c.field).Addr().Interface())
		}
	}
	return all
}
