package enginetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/lib/pq"
)

// filledPrefix begins the names of the template databases of [Filled].
const filledPrefix = "mailhelm_filled_"

// Filled is a set of rows for PostgreSQL databases of tests. It writes the rows once in a
// process, to a template database, and each test gets a copy of the template.
//
// The template remains on the server until the server is removed, or until a test process
// that starts later drops the template; see dropAbandoned.
type Filled struct {
	fill func(ctx context.Context, address string) error

	once sync.Once
	// template is the name of the template database, and err the error of its creation. Both
	// are set by once.
	template string
	err      error
	// owner is a connection whose application_name is the name of the template. It stays open
	// until the process ends; see dropAbandoned.
	owner *sql.Conn
}

// NewFilled returns a Filled with the rows that fill writes. fill gets the address of a
// database with the complete schema and no rows. It must close its connections, because
// PostgreSQL does not copy a database that is in use.
func NewFilled(fill func(ctx context.Context, address string) error) *Filled {
	return &Filled{fill: fill}
}

// URL returns the address of a new PostgreSQL database with the complete schema and the
// rows. The database is dropped when the test ends. If PostgreSQL is not available the test
// is skipped, or fails if CI is "true".
func (f *Filled) URL(tb testing.TB) string {
	tb.Helper()
	s := available(tb)
	f.once.Do(func() { f.err = f.makeTemplate(context.Background(), s) })
	if f.err != nil {
		tb.Fatalf("enginetest: fill template database: %v", f.err)
	}
	return s.copyTemplate(tb, f.template)
}

// makeTemplate creates the template database and fills it. Afterwards the template refuses
// connections, so that it can always be copied.
func (f *Filled) makeTemplate(ctx context.Context, s *server) error {
	name := filledPrefix + strings.ReplaceAll(uuid.NewString(), "-", "")
	// A pool of its own, because the pool admin has few connections.
	pool, err := sql.Open("postgres", s.base.String())
	if err != nil {
		return err
	}
	if f.owner, err = pool.Conn(ctx); err != nil {
		return errors.Join(err, pool.Close())
	}
	for _, statement := range []string{"SET application_name = " + name, createCopy(name, s.template)} {
		if _, err := f.owner.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	if err := f.fill(ctx, s.url(name)); err != nil {
		return err
	}
	_, err = f.owner.ExecContext(ctx, "ALTER DATABASE "+name+" WITH ALLOW_CONNECTIONS false")
	f.template = name
	return err
}

// dropAbandoned drops the templates of [Filled] whose process has ended: those for which no
// connection has the template's name as its application_name. The caller must hold
// templateLock.
func dropAbandoned(ctx context.Context, conn *sql.Conn) error {
	var names []string
	err := conn.QueryRowContext(ctx, `SELECT coalesce(array_agg(d.datname::text), '{}') FROM pg_database AS d
		WHERE starts_with(d.datname, $1) AND NOT EXISTS (SELECT 1 FROM pg_stat_activity AS a WHERE a.application_name = d.datname)`,
		filledPrefix).Scan(pq.Array(&names))
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, err := conn.ExecContext(ctx, "DROP DATABASE "+name); err != nil {
			return fmt.Errorf("abandoned template: %w", err)
		}
	}
	return nil
}
