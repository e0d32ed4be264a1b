package engine

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/lib/pq"
	"github.com/mailhelm/mailhelm/core"
	modernc "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// These are the PostgreSQL error codes (SQLSTATE) that this package handles.
const (
	uniqueViolation      = "23505"
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	queryCanceled        = "57014"
	readOnlyTransaction  = "25006"
)

// sqlState returns the SQLSTATE of a PostgreSQL error, or "" for any other error.
func sqlState(err error) string {
	if e, ok := errors.AsType[*pq.Error](err); ok {
		return string(e.Code)
	}
	return ""
}

// retryable reports whether the transaction that failed with err may succeed if it runs
// again. It returns true only for errors of PostgreSQL, among them violations of a unique
// index. Transactions check whether a name is taken before they insert it. So a violation
// occurs only in a race, and the second run finds the name taken.
func retryable(err error) bool {
	switch sqlState(err) {
	case serializationFailure, deadlockDetected, uniqueViolation:
		return true
	}
	return false
}

// IsRefusedRow reports whether a write failed because of its values: a unique index has them
// already, a row that they refer to is missing, or a column cannot have them.
func IsRefusedRow(err error) bool {
	if e, ok := errors.AsType[*modernc.Error](err); ok {
		return e.Code()&0xff == sqlite3.SQLITE_CONSTRAINT
	}
	class := sqlState(err)
	return strings.HasPrefix(class, "23") || strings.HasPrefix(class, "22")
}

// cause converts the error of a failed database call for the caller. If ctx has ended, it
// returns the cause of ctx, because each database reports that differently.
//
// If the database refuses all calls, it returns core.CodeTemporarilyUnavailable. If another
// process held SQLite's lock too long, it returns core.CodeOverloaded. Both wrap err. After
// PostgreSQL's statement timeout it joins context.DeadlineExceeded. Otherwise it returns
// err.
func (db *DB) cause(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	if _, known := errors.AsType[*core.Error](err); known {
		return err
	}
	switch why := outageOf(err); {
	case isBusy(err):
		e := core.Overloaded(busyRetry)
		e.Err = err
		return e
	case why != "":
		db.outage.Store(&why)
		return core.TemporarilyUnavailable(err)
	// PostgreSQL cancels a statement when its own statement timeout ends or when ctx ends;
	// here ctx has not ended
	case sqlState(err) == queryCanceled:
		return errors.Join(context.DeadlineExceeded, err)
	}
	return err
}

// outageOf returns the reason why the database refuses all calls, in words for the
// operator. It returns "" if err concerns only one statement.
func outageOf(err error) string {
	if state := sqlState(err); state != "" {
		return outageByState(state)
	}
	if e, ok := errors.AsType[*modernc.Error](err); ok {
		return outageByResult[e.Code()&0xff]
	}
	_, network := errors.AsType[net.Error](err)
	switch {
	case network:
		return "the database cannot be reached"
	case errors.Is(err, driver.ErrBadConn), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection to the database broke off"
	case errors.Is(err, sql.ErrConnDone), strings.HasSuffix(err.Error(), "sql: database is closed"):
		return "the database was closed"
	}
	return ""
}

// outageByState returns the reason of an outage by SQLSTATE, or "". It looks up the
// complete SQLSTATE first, then its first two characters, which are its class.
func outageByState(state string) string {
	if why, ok := outages[state]; ok {
		return why
	}
	return outages[state[:min(2, len(state))]]
}

// outages has the reasons of outages in words for the operator, by SQLSTATE or by the class
// of a SQLSTATE.
var outages = map[string]string{
	"57P01":             "the database is shutting down",
	"57P02":             "the database crashed and restarts",
	"57P03":             "the database is starting or shutting down",
	"53100":             "the database's disk is full",
	"53200":             "the database is out of memory",
	"53300":             "the database has too many connections",
	readOnlyTransaction: "the database is read-only",
	"3D000":             "the database does not exist",
	"08":                "the connection to the database broke off",
	"28":                "the database refuses the user or the password",
	"53":                "the database is out of resources",
	"58":                "the database cannot read or write its files",
	"XX001":             "the database's files are damaged",
	"XX002":             "the database's files are damaged",
}

// outageByResult has the reasons of outages by primary result code of SQLite.
var outageByResult = map[int]string{
	sqlite3.SQLITE_FULL:     "the disk of the database file is full",
	sqlite3.SQLITE_IOERR:    "the database file cannot be read or written",
	sqlite3.SQLITE_READONLY: "the database file is read-only",
	sqlite3.SQLITE_CANTOPEN: "the database file cannot be opened",
	sqlite3.SQLITE_CORRUPT:  "the database file is damaged",
	sqlite3.SQLITE_NOTADB:   "the database file is damaged",
	sqlite3.SQLITE_NOMEM:    "there is no memory left for the database",
}

// isBusy reports whether SQLite gave up because another process held the lock of the
// database for longer than busy_timeout.
func isBusy(err error) bool {
	e, ok := errors.AsType[*modernc.Error](err)
	return ok && e.Code()&0xff == sqlite3.SQLITE_BUSY
}

// isReadOnly reports whether PostgreSQL refused a write because the server takes none. After a
// failover, connections that are still open may lead to the former primary.
func isReadOnly(err error) bool { return sqlState(err) == readOnlyTransaction }

// isLost reports whether the call failed because an open connection was lost. A restart of
// the database closes all connections.
func isLost(err error) bool {
	switch sqlState(err) {
	case "":
		_, network := errors.AsType[*net.OpError](err)
		return network || errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	case "57P01", "57P02":
		return true
	}
	return false
}
