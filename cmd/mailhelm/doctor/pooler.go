package doctor

import (
	"context"

	"github.com/mailhelm/mailhelm/storage"
)

// pooler checks whether a pooler is in front of PostgreSQL, and whether the settings fit it. It
// returns false if the database cannot be used with these settings. Open has already checked that
// both URLs lead to the same database.
func (e *examination) pooler(ctx context.Context, db *storage.DB) bool {
	const name = "database pooler"
	keeps, err := db.KeepsSessions(ctx)
	if err != nil {
		e.add(name, Fail, "a transaction through --database-url fails: "+err.Error(), "If PgBouncer has pool_mode = statement, set it to transaction.")
		return false
	}
	if e.cfg.DatabaseDirectURL == "" {
		if !keeps {
			e.add(name, Fail, "--database-url leads to a pooler that gives each transaction another session, so prepared statements and notifications get lost",
				"Set --database-direct-url to PostgreSQL itself, or pool_mode = session in PgBouncer.")
		}
		return keeps
	}
	direct, err := db.DirectKeepsSessions(ctx)
	if err != nil {
		e.add(name, Fail, "--database-direct-url: "+err.Error(), "")
		return false
	}
	if !direct {
		e.add(name, Fail, "--database-direct-url leads to a pooler that gives each transaction another session", "Set it to PostgreSQL itself.")
		return false
	}
	compiles, err := db.CompilesStatements(ctx)
	switch {
	case err != nil:
		e.add(name, Fail, "--database-url: "+err.Error(), "")
		return false
	case compiles:
		e.add(name, Warn, "jit is on for statements through the pooler, so a large predicate may take seconds",
			"Run ALTER DATABASE ... SET jit = off once, then RECONNECT in the console of PgBouncer.")
	case keeps:
		e.add(name, OK, "both URLs lead to the same database and keep sessions; --database-direct-url is needed for pool_mode = transaction only", "")
	default:
		e.add(name, OK, "both URLs lead to the same database; sessions use the direct one", "")
	}
	return true
}
