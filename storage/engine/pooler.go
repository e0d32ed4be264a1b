package engine

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/lib/pq"
)

// This file has what differs if a pooler without sessions is between this process and
// PostgreSQL, such as PgBouncer with pool_mode=transaction ([Config.DirectURL]). Such a
// pooler assigns a server connection for each transaction. Prepared statements, LISTEN,
// session locks and settings of a session do not survive the end of a transaction, or reach
// another client. See core/doc/decisions/0130.

// errOtherDatabase is the error of Open if the two URLs name different databases.
var errOtherDatabase = errors.New("storage: the direct URL leads to another database than the database URL")

// DirectError is an error of Open that concerns [Config.DirectURL].
type DirectError struct{ Err error }

func (e DirectError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e DirectError) Unwrap() error { return e.Err }

// Direct reports that the error concerns the direct URL. Callers that do not import this package
// recognize the error by this method.
func (DirectError) Direct() bool { return true }

// transactional is a connector for a pooler without sessions. Its connections begin each
// transaction with settings that end with the transaction.
type transactional struct {
	driver.Connector
	// settings is one or more SET LOCAL statements, separated by semicolons.
	settings string
}

func (t transactional) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := t.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return pooledConn{conn.(postgresConn), t.settings}, nil
}

// postgresConn is a connection of lib/pq.
type postgresConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.NamedValueChecker
	driver.Pinger
	driver.SessionResetter
	driver.Validator
	// Tx is the open transaction of the connection.
	driver.Tx
}

// pooledConn is a connection to a pooler without sessions.
type pooledConn struct {
	postgresConn
	settings string
}

// BeginTx begins a transaction and sets its settings, in one round trip.
func (c pooledConn) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	begin := "BEGIN"
	switch level := sql.IsolationLevel(options.Isolation); level {
	case sql.LevelDefault:
	case sql.LevelRepeatableRead:
		begin += " ISOLATION LEVEL REPEATABLE READ"
	default:
		return nil, fmt.Errorf("storage: a transaction with isolation level %s is not supported", level)
	}
	if options.ReadOnly {
		begin += " READ ONLY"
	}
	if _, err := c.ExecContext(ctx, begin+"; "+c.settings, nil); err != nil {
		// If BEGIN succeeded, the connection is in a failed transaction. If it did not, the
		// driver closes the connection.
		_ = c.Rollback()
		return nil, err
	}
	return c.postgresConn, nil
}

// openDirect returns a handle with connections to the URL, which is not that of a pooler. It
// keeps no unused connection open.
func openDirect(name string) (*sql.DB, error) {
	connector, err := pq.NewConnector(name)
	if err != nil {
		return nil, errors.New("storage: the PostgreSQL driver cannot parse the direct database URL")
	}
	db := sql.OpenDB(withSettings{connector, "SET " + withoutJIT})
	db.SetMaxIdleConns(0)
	return db, nil
}

// InSession runs f with a connection of its own to PostgreSQL, past a pooler. Its settings and locks
// end with f.
func (db *DB) InSession(ctx context.Context, f func(ctx context.Context, conn *sql.Conn) error) error {
	direct, err := openDirect(db.name)
	if err != nil {
		return err
	}
	defer func() { _ = direct.Close() }() // f reports its errors
	conn, err := direct.Conn(ctx)
	if err != nil {
		return db.cause(ctx, err)
	}
	defer func() { _ = conn.Close() }() // as above
	return f(ctx, conn)
}

// checkDirect returns an error if the database at name cannot be reached, or is not that of
// the pool. Migrations of another database would damage it.
func checkDirect(ctx context.Context, name string, pooled *sql.DB) error {
	direct, err := openDirect(name)
	if err != nil {
		return DirectError{err}
	}
	defer func() { _ = direct.Close() }() // nothing was written
	theirs, err := identify(ctx, direct)
	if err != nil {
		return DirectError{refusedError(err, hostOf(name))}
	}
	ours, err := identify(ctx, pooled)
	if err != nil {
		return fmt.Errorf("storage: identify the database: %w", err)
	}
	if ours != theirs {
		return DirectError{fmt.Errorf("%w: %s, not %s", errOtherDatabase, theirs, ours)}
	}
	return nil
}

// identity identifies a database among those of all servers. A standby has the identity of
// its primary.
type identity struct{ system, database string }

func (i identity) String() string { return fmt.Sprintf("%s of the server %s", i.database, i.system) }

// identify returns the identity of the database of db.
func identify(ctx context.Context, db interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
},
) (identity, error) {
	var i identity
	err := db.QueryRowContext(ctx, "SELECT CAST(system_identifier AS text), current_database() FROM pg_control_system()").Scan(&i.system, &i.database)
	return i, err
}

// sessionTries is how often KeepsSessions compares the server processes of two connections.
const sessionTries = 4

// KeepsSessions reports whether each connection to the database has a server process of its
// own. It returns false if [Config.URL] is that of a pooler without sessions. It returns true
// for SQLite. A pooler that happens to assign the same process each time is not detected; on a
// pooler with idle server connections that does not happen.
func (db *DB) KeepsSessions(ctx context.Context) (bool, error) {
	if db.dialect == SQLite {
		return true, nil
	}
	keeps, err := keepsSessions(ctx, db.read.sql)
	return keeps, db.cause(ctx, err)
}

// DirectKeepsSessions is like [DB.KeepsSessions] for [Config.DirectURL]. Without that it
// returns true.
func (db *DB) DirectKeepsSessions(ctx context.Context) (bool, error) {
	if !db.pooled {
		return true, nil
	}
	direct, err := openDirect(db.name)
	if err != nil {
		return false, err
	}
	defer func() { _ = direct.Close() }() // nothing was written
	return keepsSessions(ctx, direct)
}

// keepsSessions opens two connections. While a transaction is open on the second, the first
// must keep its server process, and the two processes must differ.
func keepsSessions(ctx context.Context, db *sql.DB) (bool, error) {
	first, err := db.Conn(ctx)
	if err != nil {
		return false, err
	}
	defer func() { _ = first.Close() }() // gives it back
	for range sessionTries {
		keeps, err := compareProcesses(ctx, first, db)
		if err != nil || !keeps {
			return false, err
		}
	}
	return true, nil
}

// compareProcesses returns false if the connection first changes its server process while a
// transaction is open, or has the process of that transaction.
func compareProcesses(ctx context.Context, first *sql.Conn, db *sql.DB) (bool, error) {
	before, err := processOf(ctx, first)
	if err != nil {
		return false, err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback() }() // there is nothing to commit
	other, err := processOf(ctx, tx)
	if err != nil || other == before {
		return false, err
	}
	after, err := processOf(ctx, first)
	return after == before, err
}

// processOf returns the number of the server process that runs a statement.
func processOf(ctx context.Context, on querier) (int, error) {
	rows, err := on.QueryContext(ctx, "SELECT pg_backend_pid()")
	if err != nil {
		return 0, err
	}
	defer func() { _ = rows.Close() }() // rows.Err reports the errors
	var process int
	for rows.Next() {
		if err := rows.Scan(&process); err != nil {
			return 0, err
		}
	}
	return process, rows.Err()
}

// CompilesStatements reports whether PostgreSQL may compile statements of this process to
// machine code ("jit"). Without a pooler, each connection turns that off. A pooler without
// sessions cannot, outside of transactions.
func (db *DB) CompilesStatements(ctx context.Context) (bool, error) {
	if !db.pooled {
		return false, nil
	}
	var jit string
	err := db.read.sql.QueryRowContext(ctx, "SELECT current_setting('jit')").Scan(&jit)
	return jit == "on", db.cause(ctx, err)
}
