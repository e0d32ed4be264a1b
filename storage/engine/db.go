package engine

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Config says which database to open. With a URL it is PostgreSQL, otherwise
// SQLite in Dir.
type Config struct {
	// URL is a PostgreSQL connection URL, postgres://user:password@host/name.
	URL string
	// Dir is the folder of the SQLite file mailhelm.db. It is made when missing,
	// readable by its owner alone.
	Dir string
	// MaxConns bounds the connections to PostgreSQL; zero means 16, and there are at
	// least 4. One more connection listens for changes of credentials. Tokens, expensive
	// reads and jobs have some for themselves. SQLite has one connection that writes and
	// some that read.
	MaxConns int
	// CallerWait is how long calls wait for a connection, and for another process that
	// writes to SQLite; zero means 2 s.
	CallerWait time.Duration
	// Clock tells the time where a call brings none; nil means core.SystemClock.
	Clock core.Clock
	// Logger takes what migrations and jobs have to say; nil means slog.Default.
	Logger *slog.Logger
}

// DB is an open database of either engine. It is safe for concurrent use.
//
// The lane of a context says which connections its work uses; see [core.Lane]. Calls
// outside a transaction read from a pool of read connections and write each on its own.
// Inside [DB.InTx] everything goes through the transaction. On SQLite one connection
// writes: a write with a context from outside waits until the open transaction has
// ended, so f of InTx must use the context it is given.
type DB struct {
	dialect Dialect
	name    string // of the database on PostgreSQL, with the password: never to be logged
	write   *pool
	read    *pool // the same as write on PostgreSQL
	// expensive is for expensive reads, and never larger than what they may take.
	expensive *pool
	// background is for jobs on PostgreSQL. On SQLite, which has one writer, it is nil:
	// jobs have a share of the other pools.
	background *pool
	clock      core.Clock
	logger     *slog.Logger
	// outage is why the database took no calls when last asked to write.
	outage atomic.Pointer[string]
}

// Open opens the database without changing its schema; see [DB.Migrate]. It
// fails when the database cannot be reached.
func Open(ctx context.Context, c Config) (*DB, error) {
	if c.Clock == nil {
		c.Clock = core.SystemClock
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.URL != "" {
		return openPostgres(ctx, c)
	}
	if c.Dir == "" {
		return nil, errors.New("storage: neither a database URL nor a data folder is given")
	}
	return openSQLite(ctx, c)
}

// Close ends all connections. Calls under way fail.
func (db *DB) Close() error {
	failures := make([]error, 0, len(db.pools()))
	for _, p := range db.pools() {
		failures = append(failures, p.close())
	}
	return errors.Join(failures...)
}

// pools are all of them, the one that writes last: with SQLite's very last connection
// its log is put away.
func (db *DB) pools() []*pool {
	all := []*pool{db.expensive}
	if db.background != nil {
		all = append(all, db.background)
	}
	if db.read != db.write {
		all = append(all, db.read)
	}
	return append(all, db.write)
}

// pool is the one that the work of ctx uses.
func (db *DB) pool(ctx context.Context, writes bool) *pool {
	lane := core.LaneOf(ctx)
	switch {
	case lane == core.ExpensiveReads && !writes:
		return db.expensive
	case lane == core.Background && db.background != nil:
		return db.background
	case writes:
		return db.write
	}
	return db.read
}

// ExpensiveSlots is how many expensive reads run at once; see [core.ExpensiveReads].
// SQLite computes in this process, so there it is half of the processors.
func (db *DB) ExpensiveSlots() int { return db.expensive.idle }

// Ping asks the database for an answer.
func (db *DB) Ping(ctx context.Context) error {
	p := db.read
	pass, err := p.gate.enter(ctx)
	if err != nil {
		return err
	}
	defer pass.leave()
	return db.cause(ctx, p.sql.PingContext(ctx))
}

// Dialect is the engine of this database.
func (db *DB) Dialect() Dialect { return db.dialect }

// Now is the time by the clock that the database was opened with.
func (db *DB) Now() time.Time { return db.clock() }

// Logger takes warnings of the database and of those who follow it.
func (db *DB) Logger() *slog.Logger { return db.logger }

// Writer is the handle whose connections write, for those who bring their own
// statements, such as migrations. It stands behind the gates: its callers wait for a
// connection without end.
func (db *DB) Writer() *sql.DB { return db.write.sql }

// Reader is the handle whose connections read; see [DB.Writer].
func (db *DB) Reader() *sql.DB { return db.read.sql }

// Engine names the engine: "sqlite" or "postgres".
func (db *DB) Engine() string { return string(db.dialect) }

// Dialect is the kind of database that runs, with what differs between the two.
type Dialect string

// The two databases.
const (
	SQLite     Dialect = "sqlite"
	PostgreSQL Dialect = "postgres"
)

// Text is SQL as the engine is to read it; Statement.on is that of a statement.
func (e Dialect) Text(sql string) string {
	if e == PostgreSQL {
		return openSlots(sql)
	}
	return sql
}

// JSONKey is a member's name as the engine's -> takes it. SQLite reads some names as
// paths, so it is given a path.
func (e Dialect) JSONKey(name string) string {
	if e == PostgreSQL {
		return name
	}
	quoted, err := json.Marshal(name)
	if err != nil {
		return "" // no string fails
	}
	return `$.` + string(quoted)
}

var _ core.Transactor = (*DB)(nil)
