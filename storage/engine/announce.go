package engine

import "context"

// ChangesChannel is the PostgreSQL NOTIFY channel for changes that processes must know of at once. Triggers of
// the database (migration 27) announce changes of credentials and grants, and Announced changes of settings. A
// message is a kind and an id, such as "org 0198c7a2-5d3e-7a01-8b00-2f61c0d4b101".
const ChangesChannel = "mailhelm_access"

var announceOrg = Register("announce changed settings of an organization", `
	SELECT CAST($1 AS text) /*pg FROM pg_notify('`+ChangesChannel+`', $1)*/`)

// Announced returns the error of a statement that changed settings of an organization. If there is none, it
// sends a message about the change to all processes when the transaction of ctx commits, because they remember
// settings for some seconds. Tables whose rows belong to an organization have no trigger for this, because a
// distributed PostgreSQL does not allow one. On SQLite there is only one server process, and no message is sent.
func Announced(ctx context.Context, db *DB, orgID string, err error) error {
	if err != nil || db.Dialect() == SQLite {
		return err
	}
	_, err = Values[string](ctx, db, announceOrg, "org "+orgID)
	return err
}
