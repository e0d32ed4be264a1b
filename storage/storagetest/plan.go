package storagetest

import (
	"context"
	"database/sql"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/partitions"
)

// Plan returns SQLite's query plan for a statement. Each step is followed by "; ".
func Plan(t testing.TB, db *storage.DB, s *engine.Statement) string {
	t.Helper()
	args := make([]any, strings.Count(s.Text(), "$")+1)
	rows, err := db.Reader().QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+db.Dialect().Text(s.Text()), args...)
	if err != nil {
		t.Fatalf("%s: %v", s.Name(), err)
	}
	defer func() { _ = rows.Close() }()
	var plan strings.Builder
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		plan.WriteString(detail + "; ")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return plan.String()
}

// partition matches the name of a partition, or of an index of one; see package partitions.
var partition = sync.OnceValue(func() *regexp.Regexp {
	var names []string
	for _, t := range partitions.Tables() {
		names = append(names, t.Name)
	}
	return regexp.MustCompile(`\b(` + strings.Join(names, "|") + `)_(before_[0-9]{6}|[0-9]{6}|default)`)
})

// PostgresPlan returns PostgreSQL's query plan, in lines, for an SQL text without
// parameters. on is a pool or a single connection with its own settings. Partitions and their
// indexes have the names of the whole table and its indexes.
func PostgresPlan(t testing.TB, on interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}, statement string,
) string {
	t.Helper()
	rows, err := on.QueryContext(t.Context(), "EXPLAIN "+statement)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	defer func() { _ = rows.Close() }()
	var plan strings.Builder
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		plan.WriteString(line + "\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return partition().ReplaceAllString(plan.String(), "$1")
}
