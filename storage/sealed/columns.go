// Package sealed lists the columns whose values the master key encrypts, and seals their values
// anew under another master key. A test fails for a column of bytes that is neither in the list
// nor known to hold something else.
package sealed

import (
	"fmt"
	"strings"

	"github.com/mailhelm/mailhelm/storage/engine"
)

// Column is a column with sealed values.
type Column struct {
	Table, Name string
	// Purpose is the purpose with which the values are sealed. Key names the columns that
	// identify a row; their values, joined by a slash, are the id with which a value is sealed.
	Purpose string
	Key     []string

	next, update, count *engine.Statement
}

// String returns the table and the name.
func (c Column) String() string { return c.Table + "." + c.Name }

// columns are all columns with sealed values. Purposes and ids are those of the packages that
// seal the values.
var columns = register([]Column{
	{Table: "signing_keys", Name: "sealed", Purpose: "signing key", Key: []string{"id"}},
	{Table: "connections", Name: "secret", Purpose: "sending account secret", Key: []string{"org_id"}},
	{Table: "authenticators", Name: "sealed", Purpose: "authenticator app", Key: []string{"user_id"}},
	{Table: "webhook_endpoints", Name: "secret", Purpose: "webhook secret", Key: []string{"org_id", "id"}},
	{Table: "webhook_endpoints", Name: "previous_secret", Purpose: "webhook secret", Key: []string{"org_id", "id"}},
	{Table: "receiving_domains", Name: "secret", Purpose: "receiving webhook secret", Key: []string{"org_id", "id"}},
	{Table: "mail_buckets", Name: "secret", Purpose: "mail bucket secret", Key: []string{"org_id", "id"}},
	{Table: "git_connections", Name: "secret", Purpose: "git repository", Key: []string{"org_id", "id"}},
	{Table: "erased_address_keys", Name: "sealed", Purpose: "former key of erased addresses", Key: []string{"org_id", "key_id"}},
	{Table: "visitor_ids", Name: "sealed", Purpose: "visitor id", Key: []string{"org_id", "contact_id"}},
})

// Columns returns all columns with sealed values.
func Columns() []Column { return columns }

// register registers the statements of the columns. They work on all organizations, because the
// master key belongs to the installation.
func register(all []Column) []Column {
	for i := range all {
		c := &all[i]
		key := strings.Join(c.Key, ", ")
		first, second := c.Key[0], "''"
		where := first + " > $1 AND CAST($2 AS text) = ''"
		same := first + " = $2 AND CAST($3 AS text) = ''"
		if len(c.Key) == 2 {
			second = c.Key[1]
			where = fmt.Sprintf("(%s) > ($1, $2)", key)
			same = fmt.Sprintf("%s = $2 AND %s = $3", first, second)
		}
		c.next = engine.Register("sealed values of "+c.String(), fmt.Sprintf(
			"SELECT %s AS first, %s AS second, %s AS sealed FROM %s WHERE %s AND %s IS NOT NULL ORDER BY %s LIMIT $3", first, second, c.Name, c.Table, where, c.Name, key))
		c.update = engine.Register("reseal "+c.String(), fmt.Sprintf("UPDATE %s SET %s = $1 WHERE %s AND %s = $4", c.Table, c.Name, same, c.Name))
		c.count = engine.Register("count sealed "+c.String(), fmt.Sprintf("SELECT count(*) AS n FROM %s WHERE %s IS NOT NULL", c.Table, c.Name))
	}
	return all
}
