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

// Config selects the database to open: PostgreSQL when URL is set, otherwise SQLite in
// Dir.
type Config struct {
	// URL is a PostgreSQL connection URL, postgres://user:password@host/name.
	URL string
	// Dir is the folder of the SQLite file mailhelm.db. Open creates it if it is missing,
	// readable only by its owner.
	Dir string
	// MaxConns is the largest number of connections to PostgreSQL. Zero means 16; the
	// minimum is 4. One more connection listens for changes of credentials. Tokens,
	// expensive reads and jobs each have reserved connections. SQLite ignores it: there
	// one connection writes and several read.
	MaxConns int
	// CallerWait is how long a call waits for a connection, or for another process that
	// writes to SQLite. Zero means 2 s.
	CallerWait time.Duration
	// Clock returns the time where the caller passes none; nil means core.SystemClock.
	Clock core.Clock
	// Logger receives the messages of migrations and jobs; nil means slog.Default.
	Logger *slog.Logger
}

// DB is an open database of either engine. It is safe for concurrent use.
//
// The lane of a context selects the connections of its work; see [core.Lane]. Outside a
// transaction, each read uses a pool of read connections and each write commits on its
// own. Inside [DB.InTx], every call goes through the transaction. SQLite has one
// connection that writes: a write with a context from outside the transaction waits until
// the transaction has ended. Therefore the function passed to InTx must use the context
// that it receives.
//
// It has many methods because it is all that a store needs of a database: queries,
// transactions, migrations, jobs, notices and health. Each of these is a file, and all of
// them choose among the same pools.
type DB struct {
	dialect Dialect
	name    string // connection string of PostgreSQL, with the password: never log it
	write   *pool
	read    *pool // the same as write on PostgreSQL
	// expensive serves expensive reads. It has no more connections than expensive reads
	// may use at once.
	expensive *pool
	// background serves jobs on PostgreSQL. It is nil on SQLite, where jobs have a share
	// of the other pools.
	background *pool
	clock      core.Clock
	logger     *slog.Logger
	// outage is the reason why a write failed with an outage, nil after [DB.Check] has
	// written since, or if there was none.
	outage atomic.Pointer[string]
}

// Open opens the database without changing its schema; see [DB.Migrate]. It returns an
// error if the database cannot be reached.
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

// Close closes all connections. Calls in progress fail.
func (db *DB) Close() error {
	failures := make([]error, 0, len(db.pools()))
	for _, p := range db.pools() {
		failures = append(failures, p.close())
	}
	return errors.Join(failures...)
}

// pools returns all pools, the one that writes last. SQLite checkpoints its write-ahead
// log when its very last connection closes.
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

// pool returns the pool that the work of ctx uses.
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

// ExpensiveSlots returns how many expensive reads may run at once; see
// [core.ExpensiveReads]. On SQLite it is half of the processors, because SQLite computes
// in this process.
func (db *DB) ExpensiveSlots() int { return db.expensive.idle }

// Ping sends a request to the database and returns an error if there is no answer.
func (db *DB) Ping(ctx context.Context) error {
	p := db.read
	pass, err := p.gate.enter(ctx)
	if err != nil {
		return err
	}
	defer pass.leave()
	return db.cause(ctx, p.sql.PingContext(ctx))
}

// Dialect returns the engine of this database.
func (db *DB) Dialect() Dialect { return db.dialect }

// Now returns the time of the clock in [Config].
func (db *DB) Now() time.Time { return db.clock() }

// Logger returns the logger for warnings of the database and of its followers.
func (db *DB) Logger() *slog.Logger { return db.logger }

// Writer returns the handle of the connections that write, for code with its own
// statements, such as migrations. It bypasses the gates: its callers wait for a
// connection without limit.
func (db *DB) Writer() *sql.DB { return db.write.sql }

// Reader returns the handle of the connections that read; see [DB.Writer].
func (db *DB) Reader() *sql.DB { return db.read.sql }

// Engine returns the name of the engine: "sqlite" or "postgres".
func (db *DB) Engine() string { return string(db.dialect) }

// Dialect is the engine of a database, with the differences between the two engines.
type Dialect string

// The two databases.
const (
	SQLite     Dialect = "sqlite"
	PostgreSQL Dialect = "postgres"
)

// Text returns SQL as the engine reads it, with its slots opened on PostgreSQL.
func (e Dialect) Text(sql string) string {
	if e == PostgreSQL {
		return openSlots(sql)
	}
	return sql
}

// JSONKey returns the name of a JSON member as the engine's -> operator expects it. On
// SQLite it returns a path, because SQLite reads some names as paths.
func (e Dialect) JSONKey(name string) string {
	if e == PostgreSQL {
		return name
	}
	quoted, err := json.Marshal(name)
	if err != nil {
		return "" // marshalling a string cannot fail
	}
	return `$.` + string(quoted)
}

var _ core.Transactor = (*DB)(nil)
