package simulator

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/sqlitefile"
	"modernc.org/sqlite" // registers the driver "sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

//go:embed schema.sql
var firstSchema string

//go:embed schema_2.sql
var secondSchema string

//go:embed schema_3.sql
var thirdSchema string

//go:embed schema_4.sql
var fourthSchema string

// schemas are the migrations from an empty file to the current schema. A file of version n
// still needs the migrations from index n on. A released migration is never changed.
var schemas = []string{firstSchema, secondSchema, thirdSchema, fourthSchema}

const (
	// applicationID marks the SQLite file as a simulated account ("MHsa"), so that databases
	// of other programs are refused.
	applicationID = 0x4d487361

	readers = 8

	// writerBusyMillis is how long SQLite waits for another writer. SQLite cannot be
	// interrupted while it waits, so the wait is short and repeated in a loop that checks
	// the context. Readers wait only while a file is being recovered.
	writerBusyMillis = 20
	readerBusyMillis = 1000
	pause            = 2 * time.Millisecond
)

// file is the SQLite file of all accounts, with one connection for writes and several for
// reads.
type file struct {
	writer, reader *sql.DB
}

// openFile opens or creates the SQLite file and migrates its schema.
func openFile(ctx context.Context, path string) (*file, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := sqlitefile.Create(path); err != nil {
		return nil, err
	}
	writer, err := openHandle(path, 1, writerBusyMillis, "_txlock", "immediate")
	if err != nil {
		return nil, err
	}
	if err := migrate(ctx, writer); err != nil {
		return nil, errors.Join(err, writer.Close())
	}
	reader, err := openHandle(path, readers, readerBusyMillis, "_pragma", "query_only(1)")
	if err != nil {
		return nil, errors.Join(err, writer.Close())
	}
	return &file{writer, reader}, nil
}

func (f *file) close() error { return errors.Join(f.reader.Close(), f.writer.Close()) }

func openHandle(path string, connections, busyMillis int, key, value string) (*sql.DB, error) {
	q := url.Values{}
	q.Add("_pragma", fmt.Sprintf("busy_timeout(%d)", busyMillis))
	// in WAL mode, NORMAL lets commits survive a killed process but not a power failure
	q.Add("_pragma", "synchronous(NORMAL)")
	q.Add("_pragma", "secure_delete(1)") // no remnants of erased addresses
	q.Add("_error_rc", "1")
	q.Add(key, value)
	name := sqlitefile.URI(path)
	name.RawQuery = q.Encode()
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections) // keep connections open, because prepared statements belong to a connection
	return db, nil
}

// migrate creates the schema in a new file and updates the schema of an older file. It
// fails for a file of another program or of a newer version.
func migrate(ctx context.Context, db *sql.DB) error {
	err := retryWhileLocked(ctx, func() error {
		_, err := db.ExecContext(ctx, "PRAGMA journal_mode = WAL")
		return err
	})
	if err != nil {
		return err
	}
	// The schema version is read inside the transaction. If two processes start with a new
	// file at once, the second one waits and then finds the schema created.
	return inTx(ctx, db, func(tx *sql.Tx) error {
		var id, version, tables int
		err := tx.QueryRowContext(ctx, `SELECT (SELECT application_id FROM pragma_application_id),
			(SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)`).Scan(&id, &version, &tables)
		switch {
		case err != nil:
			return err
		case id == 0 && version == 0 && tables == 0: // new: all steps
		case id != applicationID || version < 1:
			return errors.New("the file is a database of something else")
		case version > len(schemas):
			return fmt.Errorf("the file has schema version %d, written by a newer version; this one knows %d", version, len(schemas))
		case version == len(schemas):
			return nil
		}
		_, err = tx.ExecContext(ctx, strings.Join(schemas[version:], "\n")+fmt.Sprintf(
			"\nPRAGMA application_id = %d;\nPRAGMA user_version = %d;", applicationID, len(schemas)))
		return err
	})
}

// inTx runs f in a write transaction. It waits for other writers, of this process or
// another process, until ctx ends.
func inTx(ctx context.Context, db *sql.DB, f func(tx *sql.Tx) error) error {
	var tx *sql.Tx
	err := retryWhileLocked(ctx, func() error {
		var err error
		tx, err = db.BeginTx(ctx, nil)
		return err
	})
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// retryWhileLocked calls f again while it fails because the SQLite file is locked, until
// ctx ends.
func retryWhileLocked(ctx context.Context, f func() error) error {
	for {
		err := f()
		if !isCode(err, sqlite3.SQLITE_BUSY) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-time.After(pause): // retries after a pause, because SQLite does not wait for every kind of lock
		}
	}
}

// isCode reports whether err is an SQLite error with this primary result code, the low byte
// of the extended code.
func isCode(err error, primary int) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && e.Code()&0xff == primary
}
