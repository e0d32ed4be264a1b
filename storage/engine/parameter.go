package engine

import (
	"encoding/json"
	"fmt"
)

// JSONParameter encodes rows as a JSON array, which a statement reads through json_each as
// a single parameter.
func JSONParameter[T any](rows []T) (string, error) {
	if rows == nil {
		rows = []T{}
	}
	b, err := json.Marshal(rows)
	if err != nil {
		return "", fmt.Errorf("storage: parameter: %w", err)
	}
	return string(b), nil
}

// emptyList is the JSON of an empty array.
const emptyList = "[]"

// DecodeList parses a JSON array that [JSONParameter] encoded. It returns nil for an empty
// array.
func DecodeList[T any](stored string) ([]T, error) {
	if stored == emptyList {
		return nil, nil
	}
	var all []T
	err := json.Unmarshal([]byte(stored), &all)
	return all, err
}

// ParameterRows returns an SQL FROM item j whose column v has the objects of a JSON array.
// parameter is the SQL parameter that holds the array, such as "$1". The item is a
// materialized subquery, because otherwise each object would be parsed again for every
// column that is read.
func ParameterRows(parameter string) string {
	return `(WITH j AS MATERIALIZED (SELECT value /*pg ::jsonb*/ AS v FROM json_each(CAST(` + parameter + ` AS text))) SELECT v FROM j) AS j`
}

// CountedRows is like [ParameterRows], for a statement that finds a row of a table by its key for
// each object. number is the SQL parameter with the number of objects, such as "$2". Without it
// PostgreSQL expects 100 objects, and would read a whole table of several hundred pages instead of
// looking up a few rows.
func CountedRows(parameter, number string) string {
	return `(SELECT v FROM ` + ParameterRows(parameter) + ` LIMIT ` + number + `) AS j`
}

// RowsNamed returns the FROM and WHERE clauses of an SQL query, in which c is the table. $1
// is a JSON array with one element for each row to find; $2 is the organization. A row is
// found by its values in the columns, through an index. The LATERAL subquery forces
// PostgreSQL to use the index: without statistics PostgreSQL would read all rows of the
// organization.
func RowsNamed(table string, columns ...Named) string {
	within, outside := `org_id = $2`, `c.org_id = $2`
	for _, by := range columns {
		equals := by.Column + ` = CAST(` + by.Equals + ` AS bytetext)`
		within, outside = within+` AND `+equals, outside+` AND c.`+equals
	}
	return `json_each(CAST($1 AS text)) AS j
		CROSS JOIN /*pg LATERAL (SELECT * FROM*/ ` + table + ` /*pg WHERE ` + within + ` LIMIT 1)*/ AS c
		WHERE ` + outside
}

// Named is a column by which RowsNamed finds rows, and the SQL expression that the column
// must equal. The expression reads the array element j.
type Named struct{ Column, Equals string }

// EncodeTexts returns texts as a JSON array, for storing them in one column.
func EncodeTexts(texts []string) (string, error) {
	b, err := json.Marshal(append([]string{}, texts...))
	if err != nil {
		return "", fmt.Errorf("storage: list of texts: %w", err)
	}
	return string(b), nil
}

// DecodeTexts parses a JSON array of texts. The result is never nil.
func DecodeTexts(stored string) ([]string, error) {
	texts := []string{}
	if err := json.Unmarshal([]byte(stored), &texts); err != nil {
		return nil, fmt.Errorf("storage: list of texts: %w", err)
	}
	return texts, nil
}
