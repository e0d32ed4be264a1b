package placement

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/lib/pq"
)

// Catalogue asks a PostgreSQL database with the schema how it understands statements.
type Catalogue struct {
	conn *sql.Conn
	// tables has the tables of the schema by their OIDs.
	tables map[int]table
	// equality has the OIDs of the operators named =.
	equality map[int]bool
}

type table struct {
	name string
	// organization is the number of the column org_id, or 0.
	organization int
	kind         Kind
}

// Open reads the catalogue of the database. The connection must be used for nothing else.
func Open(ctx context.Context, conn *sql.Conn) (*Catalogue, error) {
	c := &Catalogue{conn: conn, tables: map[int]table{}, equality: map[int]bool{}}
	err := c.each(ctx, `SELECT t.oid, t.relname, coalesce(a.attnum, 0) FROM pg_class AS t
		LEFT JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attname = 'org_id'
		WHERE t.relkind IN ('r', 'p') AND t.relnamespace = CAST(current_schema() AS regnamespace)`, func(rows *sql.Rows) error {
		var oid int
		var t table
		err := rows.Scan(&oid, &t.name, &t.organization)
		t.kind = KindOf(t.name)
		c.tables[oid] = t
		return err
	})
	if err != nil {
		return nil, err
	}
	return c, c.each(ctx, `SELECT oid FROM pg_operator WHERE oprname = '='`, func(rows *sql.Rows) error {
		var oid int
		err := rows.Scan(&oid)
		c.equality[oid] = true
		return err
	})
}

func (c *Catalogue) each(ctx context.Context, text string, f func(*sql.Rows) error) error {
	rows, err := c.conn.QueryContext(ctx, text)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // rows.Err reports the errors
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Faults returns what keeps a statement from having one place; see the package comment. text
// is in PostgreSQL's language, with parameters.
func (c *Catalogue) Faults(ctx context.Context, text string) ([]string, error) {
	trees, err := c.trees(ctx, text)
	if err != nil {
		return nil, err
	}
	a := &analysis{catalogue: c, places: map[string]bool{}, distributed: map[string]bool{}, local: map[string]bool{}}
	for _, q := range trees {
		a.query(q, nil)
	}
	return a.result(), nil
}

// trees returns the query trees of a statement. PostgreSQL stores them for a function whose
// body is the statement. The function is rolled back.
func (c *Catalogue) trees(ctx context.Context, text string) ([]*node, error) {
	types, err := c.parameterTypes(ctx, text)
	if err != nil {
		return nil, err
	}
	if len(types) > maxParameters {
		text = withoutHigh(text, types)
		types = types[:maxParameters]
	}
	tx, err := c.conn.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }() // the function is never kept
	create := "CREATE FUNCTION placement_of_statement(" + strings.Join(types, ", ") + ") RETURNS void LANGUAGE sql BEGIN ATOMIC " + text + "; END"
	if _, err := tx.ExecContext(ctx, create); err != nil {
		return nil, fmt.Errorf("placement: query tree: %w", err)
	}
	var tree string
	if err := tx.QueryRowContext(ctx, "SELECT prosqlbody FROM pg_proc WHERE proname = 'placement_of_statement'").Scan(&tree); err != nil {
		return nil, err
	}
	root, err := parseNode(tree)
	if err != nil {
		return nil, err
	}
	queries := collectQueries(root, nil)
	if len(queries) == 0 {
		return nil, fmt.Errorf("placement: no query in %.80q", tree)
	}
	return queries, nil
}

// collectQueries appends the outermost queries of nested lists.
func collectQueries(n *node, queries []*node) []*node {
	if n.kind == "QUERY" {
		return append(queries, n)
	}
	for _, item := range n.items {
		queries = collectQueries(item, queries)
	}
	return queries
}

// parameterTypes returns the types that PostgreSQL derives for the parameters of a statement.
func (c *Catalogue) parameterTypes(ctx context.Context, text string) ([]string, error) {
	if _, err := c.conn.ExecContext(ctx, "PREPARE placement AS "+text); err != nil {
		return nil, fmt.Errorf("placement: prepare: %w", err)
	}
	var types []string
	if err := c.conn.QueryRowContext(ctx, "SELECT CAST(parameter_types AS text[]) FROM pg_prepared_statements WHERE name = 'placement'").Scan(pq.Array(&types)); err != nil {
		return nil, err
	}
	_, err := c.conn.ExecContext(ctx, "DEALLOCATE placement")
	return types, err
}

func parameterName(number int) string { return "$" + strconv.Itoa(number) }

// maxParameters is the largest number of parameters of a function in PostgreSQL.
const maxParameters = 100

var parameterText = regexp.MustCompile(`\$(\d+)`)

// withoutHigh replaces the parameters that a function cannot have by NULL. What equals one of
// them has no known place.
func withoutHigh(text string, types []string) string {
	return parameterText.ReplaceAllStringFunc(text, func(name string) string {
		number, err := strconv.Atoi(name[1:])
		if err != nil || number <= maxParameters || number > len(types) {
			return name
		}
		return "CAST(NULL AS " + types[number-1] + ")"
	})
}
