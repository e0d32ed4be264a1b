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

// urlVariable names a PostgreSQL server to test on. Its user must be allowed to
// create databases. The database with the schema that tests copy stays there.
const urlVariable = "MAILHELM_TEST_POSTGRES_URL"

// Each test has a pool of its own, and all of them share the server's limit.
const testConns = 16

// Postgres is an empty database with the whole schema. It is dropped with the
// test. Without a PostgreSQL the test is skipped, and fails when CI is true.
func Postgres(tb testing.TB) *storage.DB {
	tb.Helper()
	return Open(tb, storage.Config{URL: PostgresURL(tb), MaxConns: testConns, CallerWait: callerWait})
}

// PostgresURL is the address of a database as Postgres gives it, for tests that
// open it themselves.
func PostgresURL(tb testing.TB) string {
	tb.Helper()
	s := available(tb)
	name := "mailhelm_test_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	// To copy the files takes a third of the processor time of copying them through the log.
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

// server is a running PostgreSQL with a database that has the whole schema.
type server struct {
	base     *url.URL
	admin    *sql.DB
	template string
	// user is held until the process ends: a collected file would be closed, and
	// the cluster be without users. nil for a server that is not ours.
	user *os.File
}

// sharedServer is this process's server, nil when there is none to be had.
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

func (s *server) url(database string) string {
	u := *s.base
	u.Path = "/" + database
	return u.String()
}
