package engine

import (
	"encoding/json"
	"fmt"
)

// JSONParameter is many rows as one parameter of a statement with json_each.
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

// ParameterRows is where a statement reads the rows of a parameter that is a JSON
// array of objects: from j, as v. Either engine would otherwise write or read the
// text of a row anew for each of its columns.
func ParameterRows(parameter string) string {
	return `(WITH j AS MATERIALIZED (SELECT value /*pg ::jsonb*/ AS v FROM json_each(CAST(` + parameter + ` AS text))) SELECT v FROM j) AS j`
}

// RowsNamed are the rows of an organization, as c, that a parameter names: a JSON array
// of what the columns equal. The second parameter is the organization. Each is found by
// an index, and PostgreSQL is told so, because it takes an organization for small until
// it has counted, and would read all of it.
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

// Named is a column and what it equals, from an element j of the parameter.
type Named struct{ Column, Equals string }

// EncodeTexts returns the JSON array of texts that a column keeps.
func EncodeTexts(texts []string) (string, error) {
	b, err := json.Marshal(append([]string{}, texts...))
	if err != nil {
		return "", fmt.Errorf("storage: list of texts: %w", err)
	}
	return string(b), nil
}

// DecodeTexts reads a stored JSON array of texts. The result is never nil.
func DecodeTexts(stored string) ([]string, error) {
	texts := []string{}
	if err := json.Unmarshal([]byte(stored), &texts); err != nil {
		return nil, fmt.Errorf("storage: list of texts: %w", err)
	}
	return texts, nil
}
