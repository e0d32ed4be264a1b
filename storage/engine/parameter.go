package engine

import (
	"encoding/json"
	"fmt"
)

// JSONParameter encodes many rows as one parameter of a statement with json_each.
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

// emptyList is the JSON of a list without elements.
const emptyList = "[]"

// DecodeList decodes a column that [JSONParameter] encoded. An empty list is nil.
func DecodeList[T any](stored string) ([]T, error) {
	if stored == emptyList {
		return nil, nil
	}
	var all []T
	err := json.Unmarshal([]byte(stored), &all)
	return all, err
}

// ParameterRows returns the FROM item j, whose column v holds the objects of a parameter
// that is a JSON array. It is materialized, because either engine would otherwise parse
// or write each row again for every column.
func ParameterRows(parameter string) string {
	return `(WITH j AS MATERIALIZED (SELECT value /*pg ::jsonb*/ AS v FROM json_each(CAST(` + parameter + ` AS text))) SELECT v FROM j) AS j`
}

// RowsNamed returns a FROM item c with the rows of an organization that a parameter
// names. $1 is a JSON array of the values that the columns equal; $2 is the organization.
// An index finds each row. The text forces PostgreSQL to use it: without statistics,
// PostgreSQL assumes a small organization and would read all its rows.
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

// Named is a column and the expression that it equals, over an element j of the
// parameter.
type Named struct{ Column, Equals string }

// EncodeTexts returns texts as the JSON array that a column stores.
func EncodeTexts(texts []string) (string, error) {
	b, err := json.Marshal(append([]string{}, texts...))
	if err != nil {
		return "", fmt.Errorf("storage: list of texts: %w", err)
	}
	return string(b), nil
}

// DecodeTexts decodes a stored JSON array of texts. The result is never nil.
func DecodeTexts(stored string) ([]string, error) {
	texts := []string{}
	if err := json.Unmarshal([]byte(stored), &texts); err != nil {
		return nil, fmt.Errorf("storage: list of texts: %w", err)
	}
	return texts, nil
}
