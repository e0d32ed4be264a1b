package simulator

import (
	"context"
	"database/sql"
	"fmt"
)

// erasedTables are all tables with rows of organizations, with the column that tells the rows
// of one organization apart.
var erasedTables = [][2]string{
	{"identities", "identity_key"},
	{"configuration_sets", "name"},
	{"contact_lists", "org_id"},
	{"topics", "name"},
	{"contacts", "id"},
	{"suppressed", "id"},
	{"templates", "id"},
	{"sent", "id"},
	{"outbox", "id"},
	{"mails", "id"},
	{"accounts", "org_id"},
}

// eraseBatch is the maximum number of rows that one transaction of Erase deletes.
const eraseBatch = 2000

// Erase deletes the account of an organization with its contacts, its mails and the events
// that were not delivered yet, in batches. It may be interrupted and repeated. It has no
// deadline of its own, and faults do not affect it.
func (s *Simulator) Erase(ctx context.Context, orgID string) error {
	for _, erased := range erasedTables {
		table, key := erased[0], erased[1]
		//nolint:gosec // the names are from the list above
		statement := `DELETE FROM ` + table + ` WHERE org_id = ?1 AND ` + key + ` IN (SELECT ` + key + ` FROM ` + table + ` WHERE org_id = ?1 LIMIT ?2)`
		for n := int64(eraseBatch); n == eraseBatch; {
			err := inTx(ctx, s.file.writer, func(tx *sql.Tx) error {
				result, err := tx.ExecContext(ctx, statement, orgID, eraseBatch)
				if err != nil {
					return err
				}
				n, err = result.RowsAffected()
				return err
			})
			if err != nil {
				return fmt.Errorf("erase %s of a simulated account: %w", table, err)
			}
		}
	}
	return nil
}
