package engine

import "context"

// ExpectBulk lets the next transaction change many rows without writing pages of the database more
// than once. SQLite otherwise keeps 2 MB of pages, writes those that do not fit before the end of
// the transaction, and reads them again. [DB.GiveBack] ends the effect, which takes up to 64 MB.
// PostgreSQL has a cache of its own and ignores the call.
func (db *DB) ExpectBulk(ctx context.Context) error {
	if db.dialect != SQLite {
		return nil
	}
	_, err := db.Writer().ExecContext(ctx, "PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY")
	return err
}
