package enginetest

import (
	"context"
	"database/sql"
	"sync/atomic"
	"testing"
)

// TestFilledDatabases checks that two databases of a Filled both have its rows, that they
// do not share later rows, and that the rows are written once.
func TestFilledDatabases(t *testing.T) {
	t.Parallel()
	var fills atomic.Int32
	filled := NewFilled(func(ctx context.Context, address string) error {
		fills.Add(1)
		return execAt(ctx, address, "CREATE TABLE filled AS SELECT 1 AS n")
	})
	one, other := filled.URL(t), filled.URL(t)
	if err := execAt(t.Context(), one, "INSERT INTO filled VALUES (2)"); err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]int{one: 2, other: 1} {
		if got := countAt(t, address, "SELECT count(*) FROM filled"); got != want {
			t.Errorf("%d rows, want %d", got, want)
		}
	}
	if n := fills.Load(); n != 1 {
		t.Errorf("the rows were written %d times", n)
	}
}

// TestAbandonedTemplatesAreDropped checks that dropAbandoned drops a template whose process
// has ended, and keeps a template in use.
func TestAbandonedTemplatesAreDropped(t *testing.T) {
	t.Parallel()
	s := available(t)
	filled := NewFilled(func(context.Context, string) error { return nil })
	filled.URL(t)
	abandoned := filledPrefix + "abandoned"
	if _, err := s.admin.ExecContext(t.Context(), createCopy(abandoned, s.template)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.makeTemplate(t.Context()); err != nil { // calls dropAbandoned, with the lock
		t.Fatal(err)
	}
	for name, want := range map[string]int{abandoned: 0, filled.template: 1} {
		if got := countAt(t, s.url("postgres"), "SELECT count(*) FROM pg_database WHERE datname = '"+name+"'"); got != want {
			t.Errorf("%d databases are named %s, want %d", got, name, want)
		}
	}
}

// execAt runs a statement on the database at the address, on a connection of its own.
func execAt(ctx context.Context, address, statement string) error {
	db, err := sql.Open("postgres", address)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	_, err = db.ExecContext(ctx, statement)
	return err
}

// countAt returns the number that a query selects in the database at the address.
func countAt(t *testing.T, address, query string) (n int) {
	t.Helper()
	db, err := sql.Open("postgres", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
