package engine

import "context"

// Scrub removes remnants of deleted rows from the files of SQLite: it copies the write-ahead log
// into the database, where deleted content is overwritten, and empties it. Readers can keep it from
// emptying the log at once; later commits then overwrite it. PostgreSQL removes remnants by
// itself, with its next vacuum, and ignores the call.
func (db *DB) Scrub(ctx context.Context) error {
	if db.dialect != SQLite {
		return nil
	}
	_, err := db.Writer().ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return err
}
