package engine

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/lib/pq"
	"github.com/mailhelm/mailhelm/core"
)

const (
	postgresConns     = 16
	postgresIdleTime  = 5 * time.Minute
	postgresConnectIn = "5" // seconds
	// withoutJIT keeps PostgreSQL from compiling statements with a high estimated cost to
	// machine code. For a predicate with many terms the compilation takes seconds, ten times
	// as long as the statement.
	withoutJIT = "jit = off"
	// withLimit sets a statement timeout of 20 s, after which PostgreSQL cancels the
	// statement. It is longer than the time limit of every read, so usually the program
	// cancels first.
	withLimit = "statement_timeout = '20s'"
)

// openPostgres opens the database at c.URL. Without c.DirectURL, a connection pooler between
// this process and PostgreSQL must preserve sessions, because statements are prepared on each
// connection.
func openPostgres(ctx context.Context, c Config) (*DB, error) {
	name, err := postgresName(c.URL)
	if err != nil {
		return nil, err
	}
	connector, err := pq.NewConnector(name)
	if err != nil {
		return nil, errors.New("storage: the PostgreSQL driver cannot parse the database URL")
	}
	pooled, direct := c.DirectURL != "", name
	if pooled {
		if direct, err = postgresName(c.DirectURL); err != nil {
			return nil, DirectError{err}
		}
	}
	with := func(settings ...string) driver.Connector {
		if pooled {
			return transactional{connector, "SET LOCAL " + strings.Join(settings, "; SET LOCAL ")}
		}
		return withSettings{connector, "SET " + strings.Join(settings, "; SET ")}
	}
	n := divide(cmp.Or(c.MaxConns, postgresConns))
	shared := postgresPool(with(withoutJIT), n.calls+n.vital)
	if err := shared.sql.PingContext(ctx); err != nil {
		_ = shared.close()
		return nil, refusedError(err, hostOf(name))
	}
	if pooled {
		if err := checkDirect(ctx, direct, shared.sql); err != nil {
			return nil, errors.Join(err, shared.close())
		}
	}
	shared.gate = newGate(c.CallerWait, map[core.Lane]int{core.Calls: n.calls, core.Vital: n.vital})
	shared.unprepared = pooled
	expensive := postgresPool(with(withoutJIT, withLimit), n.expensive)
	expensive.gate, expensive.unprepared = newGate(c.CallerWait, map[core.Lane]int{core.Calls: n.expensive}), true
	expensive.transactional = pooled
	// River, the job library, uses connections of this pool directly. So the number of jobs
	// that may use the pool at once is one lower than its number of connections, and a
	// connection is free for River. A pool with one connection still admits one job.
	background := postgresPool(with(withoutJIT), n.background)
	background.gate, background.unprepared = newGate(c.CallerWait, map[core.Lane]int{core.Calls: max(1, n.background-1)}), true
	shared.name, expensive.name, background.name = "main", "expensive", "jobs"
	db := &DB{
		dialect: PostgreSQL, name: direct, pooled: pooled, clock: c.Clock, logger: c.Logger,
		write: shared, read: shared, expensive: expensive, background: background,
	}
	if c.ReplicaURL != "" {
		if db.replica, err = openReplica(ctx, c, shared.sql, n.expensive); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	return db, nil
}

// portions has the number of connections for each lane; see [core.Lane].
type portions struct{ calls, vital, expensive, background int }

// divide divides the number of connections in the parameter size among the lanes (classes
// of work on the database), at least one for each lane. The lane of ordinary calls gets the
// connections that remain.
func divide(size int) portions {
	n := portions{vital: max(1, size/8), expensive: max(1, size/5), background: max(1, size/4)}
	n.calls = max(1, size-n.vital-n.expensive-n.background)
	return n
}

func postgresPool(connector driver.Connector, size int) *pool {
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	db.SetConnMaxIdleTime(postgresIdleTime)
	return newPool(db, PostgreSQL, size)
}

// withSettings is a connector that runs an SQL text with settings on each new connection.
// For expensive reads the settings include a statement timeout, so that the server cancels
// a statement even if the network to this program has failed.
type withSettings struct {
	driver.Connector
	settings string
}

func (w withSettings) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := w.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := conn.(driver.ExecerContext).ExecContext(ctx, w.settings, nil); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// hostOf returns the host and port in a database URL, or "" for a URL without them.
func hostOf(name string) string {
	u, err := url.Parse(name)
	if err != nil {
		return ""
	}
	return u.Host
}

// postgresName returns the database URL with the parameters that this package requires. Its
// errors do not contain the URL, because it has a password.
func postgresName(raw string) (string, error) {
	u, err := url.Parse(raw)
	if err != nil || (u.Scheme != "postgres" && u.Scheme != "postgresql") {
		return "", errors.New("storage: the database URL does not begin with postgres:// or is not a URL")
	}
	q := u.Query()
	// With binary_parameters, an unprepared statement takes one network round trip instead
	// of two.
	q.Set("binary_parameters", "yes")
	for key, value := range map[string]string{"application_name": "mailhelm", "connect_timeout": postgresConnectIn} {
		if !q.Has(key) {
			q.Set(key, value)
		}
	}
	u.RawQuery = q.Encode()
	return u.String(), nil
}
