package enginetest

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	_ "github.com/lib/pq" // the driver "postgres"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// urlVariable is the environment variable with the URL of a PostgreSQL server for tests.
// Its user needs the permission to create databases. A template database with the schema
// remains on that server.
const urlVariable = "MAILHELM_TEST_POSTGRES_URL"

// testConns is the number of connections of each test. All tests together share the limit
// of the server.
const testConns = 16

// Postgres returns a PostgreSQL database with the complete schema and no rows. It is
// dropped when the test ends. If PostgreSQL is not available the test is skipped, or fails
// if CI is "true".
func Postgres(tb testing.TB) *engine.DB {
	tb.Helper()
	c := engine.Config{URL: PostgresURL(tb), MaxConns: testConns, CallerWait: callerWait}
	if PgBouncerForAll() {
		c.DirectURL = c.URL
		c.URL = PgBouncer(tb, c.DirectURL, PgBouncerConfig{Servers: testConns}).URL(c.DirectURL)
	}
	return Open(tb, c)
}

// PostgresURL returns the address of a new PostgreSQL database with the complete schema,
// for tests that open it themselves. It is dropped when the test ends.
func PostgresURL(tb testing.TB) string {
	tb.Helper()
	s := available(tb)
	return s.copyTemplate(tb, s.template)
}

// PostgresPrograms returns the folder with the programs of PostgreSQL, such as pg_dump. If they
// are not installed the test is skipped, or fails if CI is "true".
func PostgresPrograms(tb testing.TB) string {
	tb.Helper()
	bin := serverBinaries()
	if bin == "" {
		SkipMissing(tb, "POSTGRESQL TESTS SKIPPED: no programs of PostgreSQL found; install PostgreSQL 15 or later")
	}
	return bin
}

// copyTemplate returns the address of a new database, a copy of the given template. The
// copy is dropped when the test ends.
func (s *server) copyTemplate(tb testing.TB, template string) string {
	tb.Helper()
	name := "mailhelm_test_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	if _, err := s.admin.ExecContext(tb.Context(), createCopy(name, template)); err != nil {
		tb.Fatalf("enginetest: create database: %v", err)
	}
	tb.Cleanup(func() {
		if _, err := s.admin.ExecContext(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			tb.Errorf("enginetest: drop database: %v", err)
		}
	})
	return s.url(name)
}

// createCopy returns the statement that creates a database as a copy of a template.
// STRATEGY file_copy takes a third of the processor time of the default strategy, which
// copies through the write-ahead log.
func createCopy(name, template string) string {
	return "CREATE DATABASE " + name + " TEMPLATE " + template + " STRATEGY file_copy"
}

// available returns the PostgreSQL server for tests, or skips the test if there is none;
// see [SkipMissing].
func available(tb testing.TB) *server {
	tb.Helper()
	s, err := sharedServer()
	if err != nil {
		tb.Fatalf("enginetest: postgres: %v", err)
	}
	if s == nil {
		SkipMissing(tb, "POSTGRESQL TESTS SKIPPED: no server binaries found; install PostgreSQL 15 or later, or set "+urlVariable)
	}
	return s
}

// server is a PostgreSQL server with a template database that has the complete schema.
type server struct {
	base     *url.URL
	admin    *sql.DB
	template string
	// user is the file users.lock, locked until the process ends. The field keeps the file
	// from being garbage-collected, which would release the lock. It is nil if the tests use
	// a server that the environment variable urlVariable names.
	user *os.File
}

// sharedServer returns the PostgreSQL server for the tests of this process, or nil if none
// is available.
var sharedServer = sync.OnceValues(func() (*server, error) {
	if !Services() {
		return nil, nil
	}
	address := os.Getenv(urlVariable)
	var user *os.File
	if address == "" {
		bin := serverBinaries()
		if bin == "" {
			return nil, nil
		}
		var err error
		if address, user, err = joinCluster(bin); err != nil {
			return nil, err
		}
	}
	base, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("%s is not a URL", urlVariable)
	}
	admin, err := sql.Open("postgres", address)
	if err != nil {
		return nil, err
	}
	admin.SetMaxOpenConns(2)
	s := &server{base: base, admin: admin, user: user}
	s.template, err = s.makeTemplate(context.Background())
	return s, err
})

// url returns the address of a database on the server.
func (s *server) url(database string) string {
	u := *s.base
	u.Path = "/" + database
	return u.String()
}
