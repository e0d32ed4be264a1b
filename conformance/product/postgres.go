package product

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	_ "github.com/lib/pq"  // the driver "postgres"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

// table has the name of a database table, and the table's rows as a JSON array of objects.
type table struct {
	name string
	rows []byte
}

// databaseFile is the name of the SQLite database file in a data folder, the same as in
// package config.
const databaseFile = "mailhelm.db"

// readTables returns the tables of the SQLite database in the folder dir, in the order of
// their creation. Each table then comes after the tables that its foreign keys refer to.
// The tables are copied to PostgreSQL, because one statement for each table is quicker than
// to create the demo data again.
func readTables(ctx context.Context, dir string) ([]table, error) {
	address := url.URL{Scheme: "file", Path: filepath.Join(dir, databaseFile), RawQuery: "mode=ro"}
	db, err := sql.Open("sqlite", address.String())
	if err != nil {
		return nil, err
	}
	defer db.Close() //nolint:errcheck // nothing is written
	names, err := tableNames(ctx, db)
	if err != nil {
		return nil, err
	}
	tables := make([]table, len(names))
	for i, name := range names {
		rows, err := readRows(ctx, db, name)
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", name, err)
		}
		if tables[i].rows, err = json.Marshal(rows); err != nil {
			return nil, err
		}
		tables[i].name = name
	}
	return tables, nil
}

// tableNames returns the names of the tables of a SQLite database, without those of SQLite
// itself, of the schema migrations and of the job queue.
func tableNames(ctx context.Context, db *sql.DB) ([]string, error) {
	rows, err := db.QueryContext(ctx, `SELECT name FROM sqlite_schema WHERE type = 'table'
		AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'river_%' AND name <> 'schema_versions' ORDER BY rowid`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

// readRows returns the rows of a table, each as a map from column to value. It puts the
// table's name into the SQL text as it is, so the name must come from tableNames.
func readRows(ctx context.Context, db *sql.DB, name string) ([]map[string]any, error) {
	rows, err := db.QueryContext(ctx, "SELECT * FROM "+name)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	all := []map[string]any{}
	for rows.Next() {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		row := make(map[string]any, len(columns))
		for i, column := range columns {
			if b, ok := values[i].([]byte); ok {
				values[i] = `\x` + hex.EncodeToString(b) // how PostgreSQL reads bytea
			}
			row[column] = values[i]
		}
		all = append(all, row)
	}
	return all, rows.Err()
}

// fillPostgres inserts the tables into a PostgreSQL database with the same schema and no
// rows, in one transaction. The PostgreSQL function json_populate_recordset converts each
// JSON value to the type of its column. fillPostgres then collects statistics, as
// PostgreSQL itself does within a minute of such inserts. Without them PostgreSQL expects
// one row for each organization, and its plans of joins take quadratic time.
func fillPostgres(ctx context.Context, address string, tables []table) error {
	db, err := sql.Open("postgres", address)
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	var filled []string
	for _, t := range tables {
		if string(t.rows) == "[]" {
			continue
		}
		filled = append(filled, t.name)
		_, err := tx.ExecContext(ctx,
			fmt.Sprintf("INSERT INTO %[1]s SELECT * FROM json_populate_recordset(CAST(NULL AS %[1]s), $1)", t.name), string(t.rows))
		if err != nil {
			return errors.Join(fmt.Errorf("table %s: %w", t.name, err), tx.Rollback(), db.Close())
		}
	}
	_, err = tx.ExecContext(ctx, "ANALYZE "+strings.Join(filled, ", "))
	return errors.Join(err, tx.Commit(), db.Close())
}
