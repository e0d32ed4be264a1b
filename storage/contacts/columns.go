package contacts

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/mailhelm/mailhelm/storage/engine"
)

// column is a column of the table contacts that has a field in [Row].
type column struct {
	name string
	// cast is the SQL type to which a value from JSON is cast before it is stored in the
	// column. "" means text, which needs no cast.
	cast string
	// none is the SQL value of the column in result rows that hold a list or an attribute
	// exception instead of a contact; see contactWithLists.
	none string
	// isRead is false for a column that only conditions use. isChanged is false for a column
	// that updates do not write.
	isRead, isChanged bool
	// field is the index of the column's field in Row.
	field int
}

// table lists the columns of the table contacts in the order of the fields of Row.
var table = columnsOfRow()

// columnsOfRow derives the columns from the fields of Row. The tag db has the column's
// name, and the field's type determines the SQL cast. The tag read:"never" excludes a
// column from reads, write:"once" from updates.
func columnsOfRow() []column {
	row := reflect.TypeFor[Row]()
	columns := make([]column, row.NumField())
	for i := range columns {
		f := row.Field(i)
		c := column{
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

// fromJSON returns the SQL expression that reads the column's value from v, an SQL column
// with a JSON object; see [engine.ParameterRows].
func (c column) fromJSON() string {
	value := `v ->> '` + c.name + `'`
	if c.cast == "" {
		return value
	}
	return `CAST(` + value + ` AS ` + c.cast + `)`
}

// joinColumns calls the function text for each column and joins the results with commas. It
// omits columns for which text returns "".
func joinColumns(text func(column) string) string {
	var texts []string
	for _, c := range table {
		if t := text(c); t != "" {
			texts = append(texts, t)
		}
	}
	return strings.Join(texts, ", ")
}

// ColumnsSQL returns the list of columns from which a [Row] is scanned, each with the given
// prefix, such as "c.". For "" the columns have no prefix.
func ColumnsSQL(of string) string {
	return joinColumns(func(c column) string {
		if !c.isRead {
			return ""
		}
		return of + c.name
	})
}

// placesSQL returns a SELECT list with one value for each column of ColumnsSQL. If the map
// values has an SQL value for a column, the list contains that value. Otherwise it contains
// column.none.
func placesSQL(values map[string]string) string {
	return joinColumns(func(c column) string {
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

// InsertSQL returns the statement that inserts contact records from a JSON array. $1 is the
// organization. parameter is the name of the array's SQL parameter, such as "$2".
func InsertSQL(parameter string) string {
	return `
		INSERT INTO contacts (org_id, ` + joinColumns(func(c column) string { return c.name }) + `)
		SELECT $1, ` + joinColumns(column.fromJSON) + `
		FROM ` + engine.ParameterRows(parameter) + ` WHERE TRUE`
}

// insertOneSQL returns the statement that inserts one contact record. $1 is the
// organization. The parameters from $2 on are the values of Row.
func insertOneSQL() string {
	next := 1
	return `
		INSERT INTO contacts (org_id, ` + joinColumns(func(c column) string { return c.name }) + `)
		VALUES ($1, ` + joinColumns(func(column) string { next++; return fmt.Sprintf("$%d", next) }) + `)`
}

// setSQL returns the SET list of an UPDATE with all columns that an update writes. text
// returns the SQL value of a column.
func setSQL(text func(column) string) string {
	return joinColumns(func(c column) string {
		if !c.isChanged {
			return ""
		}
		return c.name + ` = ` + text(c)
	})
}

// SetFromJSONSQL returns the list of assignments for SET in an UPDATE of a contact. The
// values come from the JSON object v.
func SetFromJSONSQL() string { return setSQL(column.fromJSON) }

// updateOneSQL returns the statement that updates one contact record. Its parameters are
// the changed values, then the organization and the id. The statement changes nothing if
// another contact has the address or external id. A unique violation would instead abort
// the transaction on PostgreSQL.
func updateOneSQL() string {
	places := map[string]string{}
	set := setSQL(func(c column) string {
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

// values returns the values of all columns of contacts, in the order of the fields of Row.
func (r *Row) values() []any {
	row := reflect.ValueOf(r).Elem()
	all := make([]any, len(table))
	for i, c := range table {
		all[i] = row.Field(c.field).Interface()
	}
	return all
}

// changes returns the values of the columns of contacts that updates write, in the order of
// the fields of Row.
func (r *Row) changes() []any {
	row := reflect.ValueOf(r).Elem()
	all := make([]any, 0, len(table)+furtherColumns)
	for _, c := range table {
		if c.isChanged {
			all = append(all, row.Field(c.field).Interface())
		}
	}
	return all
}

// targets returns pointers to the fields, in the order of ColumnsSQL, for scanning a row.
func (r *Row) targets() []any {
	row := reflect.ValueOf(r).Elem()
	all := make([]any, 0, len(table)+furtherColumns)
	for _, c := range table {
		if c.isRead {
			all = append(all, row.Field(c.field).Addr().Interface())
		}
	}
	return all
}
