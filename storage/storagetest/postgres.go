package storagetest

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
	"github.com/mailhelm/mailhelm/storage"
)

// urlVariable is the environment variable with the URL of a PostgreSQL server for tests.
// Its user must have permission to create databases. The template database with the
// schema stays on that server.
const urlVariable = "MAILHELM_TEST_POSTGRES_URL"

// testConns is the size of each test's pool. All tests share the server's limit.
const testConns = 16

// Postgres returns an empty database with the complete schema, which is dropped when the
// test ends. Without a PostgreSQL the test is skipped, or fails when CI is true.
func Postgres(tb testing.TB) *storage.DB {
	tb.Helper()
	return Open(tb, storage.Config{URL: PostgresURL(tb), MaxConns: testConns, CallerWait: callerWait})
}

// PostgresURL returns the address of a database like that of Postgres, for tests that
// open it themselves.
func PostgresURL(tb testing.TB) string {
	tb.Helper()
	s := available(tb)
	name := "mailhelm_test_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	// Copying the files takes a third of the processor time of a copy through the
	// write-ahead log.
	if _, err := s.admin.ExecContext(tb.Context(), "CREATE DATABASE "+name+" TEMPLATE "+s.template+" STRATEGY file_copy"); err != nil {
		tb.Fatalf("storagetest: create database: %v", err)
	}
	tb.Cleanup(func() {
		if _, err := s.admin.ExecContext(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			tb.Errorf("storagetest: drop database: %v", err)
		}
	})
	return s.url(name)
}

// available returns the server, or skips the test if there is none; see Missing.
func available(tb testing.TB) *server {
	tb.Helper()
	s, err := sharedServer()
	if err != nil {
		tb.Fatalf("storagetest: postgres: %v", err)
	}
	if s == nil {
		Missing(tb, "POSTGRESQL TESTS SKIPPED: no server binaries found; install PostgreSQL 15 or later, or set "+urlVariable)
	}
	return s
}

// server is a running PostgreSQL with a template database that has the complete schema.
type server struct {
	base     *url.URL
	admin    *sql.DB
	template string
	// user holds the users lock until the process ends. Garbage collection would close
	// the file and release the lock. It is nil for a server from urlVariable.
	user *os.File
}

// sharedServer returns this process's server, nil if none is available.
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
