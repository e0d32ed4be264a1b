package attributes

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// attributeValues counts active contacts by their value of the attribute $1. $1 must be a
// valid attribute name, because SQLite would read some other texts as JSON paths.
var attributeValues = engine.Register("values of an attribute", `
		SELECT v.value, count(*) AS contacts FROM (
			SELECT CAST(c.attributes/*pg ::json*/ -> $1 AS text) AS value FROM contacts AS c
			WHERE c.org_id = $2 AND c.status = 'active') AS v
		WHERE v.value IS NOT NULL GROUP BY v.value`)

// attributeValueRow is an attribute value as JSON text, with the number of contacts that
// have it.
type attributeValueRow struct {
	Value    string `db:"value"`
	Contacts int    `db:"contacts"`
}

// AttributeValues calls f for each value of the attribute, with the number of active
// contacts that have it. For a value that is also stored under a former name of the
// attribute, it calls f again. It reads all active contacts once for each name.
func (s Store) AttributeValues(ctx context.Context, orgID string, a attributes.Attribute, f func(value any, contacts int)) error {
	names := []string{a.Name}
	leftovers, err := leftovers(ctx, s.db, orgID)
	if err != nil {
		return err
	}
	for name, id := range leftovers {
		if id == a.ID {
			names = append(names, name)
		}
	}
	for _, name := range names {
		rows, err := engine.List[attributeValueRow](ctx, s.db, attributeValues, name, orgID)
		if err != nil {
			return err
		}
		for _, row := range rows {
			var value any
			if err := json.Unmarshal([]byte(row.Value), &value); err != nil {
				return fmt.Errorf("storage: a value of attribute %s: %w", a.ID, err)
			}
			f(value, row.Contacts)
		}
	}
	return nil
}
