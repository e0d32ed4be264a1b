package privacy

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/privacy"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// addresses has the statements that read the addresses of an organization, one for each column
// of the register that holds an address.
var addresses = func() []*engine.Statement {
	var all []*engine.Statement
	for _, t := range privacy.OfRecipients() {
		for _, m := range t.Find {
			if m.By == privacy.ByKey || m.By == privacy.BySpelling {
				all = append(all, engine.Register("addresses in "+t.Name, "SELECT DISTINCT lower("+m.Column+") AS email FROM "+t.Name+" WHERE org_id = $1"))
			}
		}
	}
	return all
}()

var contactCreated = engine.RegisterPoint("creation of a contact by address", `SELECT created_at FROM contacts WHERE org_id = $1 AND email_key = $2`)

// Addresses implements [privacy.Store].
func (s Store) Addresses(ctx context.Context, orgID string, do func(email string) error) error {
	for _, statement := range addresses {
		err := s.db.Each(ctx, statement, []any{orgID}, func(rows *sqlx.Rows) error {
			var email string
			if err := rows.Scan(&email); err != nil {
				return err
			}
			return do(email)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// CreatedAt implements [privacy.Store].
func (s Store) CreatedAt(ctx context.Context, orgID, key string) (time.Time, error) {
	type createdRow struct {
		At engine.Time `db:"created_at"`
	}
	row, err := engine.One[createdRow](ctx, s.db, "contact", contactCreated, orgID, key)
	if core.IsNotFound(err) {
		return time.Time{}, nil
	}
	return row.At.Time(), err
}
