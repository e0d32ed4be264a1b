package engine

import "context"

// ChangesChannel is the PostgreSQL NOTIFY channel for changes that processes must know of at once. Triggers of
// the database (migration 27) announce changes of credentials and grants, and AnnounceOrg changes of settings. A
// message is a kind and an id, such as "org 0198c7a2-5d3e-7a01-8b00-2f61c0d4b101".
const ChangesChannel = "mailhelm_access"

var announceOrg = Register("announce changed settings of an organization", `
	SELECT CAST($1 AS text) /*pg FROM pg_notify('`+ChangesChannel+`', $1)*/`)

// AnnounceOrg tells all processes that settings of an organization have changed which they remember for some
// seconds, when the transaction of ctx commits. Tables whose rows belong to an organization have no trigger for
// this, because a distributed PostgreSQL does not allow one. On SQLite there is only one server process, so it
// does nothing.
func AnnounceOrg(ctx context.Context, db *DB, orgID string) error {
	if db.Dialect() == SQLite {
		return nil
	}
	_, err := Values[string](ctx, db, announceOrg, "org "+orgID)
	return err
}
