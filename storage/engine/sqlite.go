package engine

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sqlitefile"
	_ "modernc.org/sqlite" // registers the driver "sqlite", written in Go; see RegisterFunction
)

const (
	sqliteFile = "mailhelm.db"
	// These are the numbers of read connections for each kind of call; see [core.Lane]. Six
	// keep two processor cores busy; more would only use memory for their caches. Token
	// checks and jobs have read connections that other calls cannot use.
	sqliteReaders           = 6
	sqliteVitalReaders      = 2
	sqliteBackgroundReaders = 2
	// SQLite allows one writer at a time; a second connection would only get SQLITE_BUSY.
	sqliteWriters = 1
)

// openSQLite opens the database file in c.Dir with one connection for writes and several
// for reads. It connects for writes, to find out whether the file is usable. The other
// connections are opened when a call needs them, because a new connection parses the
// schema, which takes 3 ms of processor time.
func openSQLite(ctx context.Context, c Config) (*DB, error) {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("storage: data folder: %w", err)
	}
	path, err := filepath.Abs(filepath.Join(c.Dir, sqliteFile))
	if err != nil {
		return nil, fmt.Errorf("storage: data folder: %w", err)
	}
	if err := sqlitefile.Create(path); err != nil {
		return nil, fmt.Errorf("storage: database file: %w", err)
	}
	// With synchronous=FULL every commit waits for the disk. With NORMAL a power failure
	// may undo the last commits, and acknowledged writes must not be lost. busy_timeout is
	// how long a call waits while another process, such as an import, holds the lock.
	busy := fmt.Sprintf("_pragma=busy_timeout(%d)", cmp.Or(c.CallerWait, callerWait).Milliseconds())
	// secure_delete overwrites deleted content with zeros, so that the file has no remnants of
	// erased persons. It costs no measurable time.
	write, err := openSQLitePool(path, sqliteWriters, busy, "_txlock=immediate", "_pragma=synchronous(FULL)", "_pragma=secure_delete(1)")
	if err != nil {
		return nil, err
	}
	if err := write.sql.PingContext(ctx); err != nil {
		_ = write.close()
		return nil, fmt.Errorf("storage: open sqlite: %w", err)
	}
	write.gate = newGate(c.CallerWait, map[core.Lane]int{core.Calls: sqliteWriters})
	callers := cmp.Or(c.SQLiteReaders, sqliteReaders)
	readers := map[core.Lane]int{
		core.Calls: callers, core.Vital: sqliteVitalReaders, core.Background: sqliteBackgroundReaders,
	}
	read, err := openSQLitePool(path, callers+sqliteVitalReaders+sqliteBackgroundReaders, busy, queryOnly)
	if err != nil {
		return nil, errors.Join(err, write.close())
	}
	read.gate, read.idle = newGate(c.CallerWait, readers), callers
	// SQLite runs in this process, so expensive reads may use only half of the processors.
	slots := max(1, runtime.GOMAXPROCS(0)/2)
	expensive, err := openSQLitePool(path, slots, busy, queryOnly)
	if err != nil {
		return nil, errors.Join(err, read.close(), write.close())
	}
	expensive.gate, expensive.unprepared = newGate(c.CallerWait, map[core.Lane]int{core.Calls: slots}), true
	write.name, read.name, expensive.name = "write", "read", "expensive"
	return &DB{dialect: SQLite, clock: c.Clock, logger: c.Logger, write: write, read: read, expensive: expensive}, nil
}

const queryOnly = "_pragma=query_only(1)"

// GiveBack closes unused connections to SQLite and frees their cached pages and prepared
// statements. The next call that needs a connection opens one and prepares its
// statements. On PostgreSQL GiveBack does nothing.
func (db *DB) GiveBack(ctx context.Context) error {
	if db.dialect != SQLite {
		return nil
	}
	db.expensive.dropIdle()
	db.read.dropIdle()
	// Ping keeps one read connection open. When the last connection closes, SQLite writes
	// its log back into the database file, which waits for the disk.
	err := db.Ping(ctx)
	db.write.dropIdle()
	return err
}

// openSQLitePool returns a pool of up to size connections to the database file. It opens
// no connection.
func openSQLitePool(path string, size int, busy string, options ...string) (*pool, error) {
	name := sqlitefile.URI(path).String() + "?" + busy + "&_pragma=journal_mode(WAL)&_pragma=foreign_keys(1)"
	for _, option := range options {
		name += "&" + option
	}
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, fmt.Errorf("storage: open sqlite: %w", err)
	}
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	return newPool(db, SQLite, size), nil
}
