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

// Config selects the database to open: PostgreSQL if URL is set, otherwise SQLite in the
// folder Dir.
type Config struct {
	// URL is a PostgreSQL connection URL, postgres://user:password@host/name.
	URL string
	// DirectURL is the URL of the same database without a pooler, if URL is that of a pooler
	// that keeps no sessions, such as PgBouncer with pool_mode=transaction. "" means that
	// connections to URL are sessions. With it, no statement is prepared, and LISTEN and
	// migrations use connections to DirectURL. Open fails if it leads to another database.
	DirectURL string
	// ReplicaURL is the URL of a streaming standby of the database, for reads that may lag; see
	// [core.WithReplica]. "" means that there is none. The standby may be away when Open is called.
	ReplicaURL string
	// ReplicaLag is how old the data of the replica may be. Zero means 5 s.
	ReplicaLag time.Duration
	// Dir is the folder of the SQLite file mailhelm.db. Open creates it if it is missing,
	// readable only by its owner.
	Dir string
	// MaxConns is the largest number of connections to PostgreSQL. Zero means 16; the
	// minimum is 4. Token checks, expensive reads and jobs have reserved shares of them. Each
	// call of [DB.Listen] uses an additional connection. SQLite ignores MaxConns.
	MaxConns int
	// SQLiteReaders is the number of connections for reads of callers on SQLite. Zero means 6.
	// PostgreSQL ignores it.
	SQLiteReaders int
	// CallerWait is how long a call waits for a database connection, or for another process
	// that writes to SQLite. Zero means 2 s.
	CallerWait time.Duration
	// Clock returns the current time for methods that have no time parameter; nil means
	// core.SystemClock.
	Clock core.Clock
	// Logger receives log messages of migrations and jobs; nil means slog.Default.
	Logger *slog.Logger
}

// DB is an open database, SQLite or PostgreSQL. It is safe for concurrent use.
//
// The lane of a context decides which connections its calls use; see [core.Lane]. Outside a
// transaction, each read uses a read connection and each write commits on its own. Inside
// [DB.InTx], every call goes through the transaction. SQLite has one connection that
// writes. A write with a context from outside the transaction therefore waits until the
// transaction has ended, so the function passed to InTx must use the context that it
// receives.
//
// DB has many methods because it is all that a store needs of a database: queries,
// transactions, migrations, jobs, notifications and health. Each of these has a file, and
// all of them use the same connection pools.
type DB struct {
	dialect Dialect
	// name is the PostgreSQL connection string for sessions. It contains the password; never log
	// it.
	name string
	// pooled is true if the pools lead to a pooler without sessions; see Config.DirectURL.
	pooled bool
	write  *pool
	read   *pool // on PostgreSQL the same pool as write
	// expensive is the pool for expensive reads. Its number of connections is the number of
	// expensive reads that may run at once.
	expensive *pool
	// background is the pool for jobs on PostgreSQL. It is nil on SQLite, where jobs use a
	// share of the other pools.
	background *pool
	// replica answers reads that may lag. It is nil without Config.ReplicaURL.
	replica *replica
	clock   core.Clock
	logger  *slog.Logger
	// outage is the reason for which the database last refused all calls, such as a full
	// disk. It is nil before the first such failure, and after [DB.Check] has written
	// successfully.
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
	if c.ReplicaURL != "" {
		return nil, ReplicaError{errors.New("storage: a replica is given without a database URL")}
	}
	if c.DirectURL != "" {
		return nil, DirectError{errors.New("storage: a direct URL is given without a database URL")}
	}
	if c.Dir == "" {
		return nil, errors.New("storage: neither a database URL nor a data folder is given")
	}
	return openSQLite(ctx, c)
}

// Close closes all connections. Calls in progress fail.
func (db *DB) Close() error {
	if db.replica != nil {
		db.replica.close()
	}
	failures := make([]error, 0, len(db.pools()))
	for _, p := range db.pools() {
		failures = append(failures, p.close())
	}
	return errors.Join(failures...)
}

// pools returns all connection pools, with the pool for writes last. Close closes them in
// this order, so that the last connection is the one for writes: when the last connection
// closes, SQLite writes its log back into the database file.
func (db *DB) pools() []*pool {
	all := []*pool{db.expensive}
	if db.replica != nil {
		all = append(all, db.replica.pool)
	}
	if db.background != nil {
		all = append(all, db.background)
	}
	if db.read != db.write {
		all = append(all, db.read)
	}
	return append(all, db.write)
}

// pool returns the connection pool for reads, or for writes if writes is true, on the lane
// of ctx; see [core.Lane].
func (db *DB) pool(ctx context.Context, writes bool) *pool {
	lane := core.LaneOf(ctx)
	switch {
	case lane == core.ExpensiveReads && !writes:
		if p := db.replicaPool(ctx); p != nil {
			return p
		}
		return db.expensive
	case lane == core.Background && db.background != nil:
		return db.background
	case writes:
		return db.write
	}
	return db.read
}

// ExpensiveSlots returns how many expensive reads may run at once; see
// [core.ExpensiveReads]. On SQLite that is half the number of processors, because SQLite
// runs in this process.
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

// Dialect returns whether this database is SQLite or PostgreSQL.
func (db *DB) Dialect() Dialect { return db.dialect }

// Now returns the time of [Config.Clock].
func (db *DB) Now() time.Time { return db.clock() }

// Logger returns the logger from [Config.Logger].
func (db *DB) Logger() *slog.Logger { return db.logger }

// Writer returns the handle of the pool for writes, for code with its own statements, such
// as migrations. Its callers may wait for a connection without limit, because the waiting
// limit of other calls does not apply to the handle.
func (db *DB) Writer() *sql.DB { return db.write.sql }

// Reader returns the handle of the pool for reads. Its callers may wait for a connection
// without limit; see [DB.Writer].
func (db *DB) Reader() *sql.DB { return db.read.sql }

// Engine returns the name of the engine: "sqlite" or "postgres".
func (db *DB) Engine() string { return string(db.dialect) }

// Dialect is a database engine, with methods for the differences between the two engines.
type Dialect string

// The two databases.
const (
	SQLite     Dialect = "sqlite"
	PostgreSQL Dialect = "postgres"
)

// Text returns SQL in the form that the engine reads. For PostgreSQL it replaces each
// comment /*pg text*/ by its text. For SQLite it puts a plus before each parameter of LIMIT
// and LIKE, so that SQLite compiles the SQL once.
func (e Dialect) Text(sql string) string {
	if e == PostgreSQL {
		return openSlots(sql)
	}
	return shieldParameters(sql)
}

// JSONKey returns the name of a JSON member in the form that the engine's -> operator
// expects. On SQLite that is a quoted path, because SQLite reads some plain names as paths.
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
