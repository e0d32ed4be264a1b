package generated

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/mailhelm/mailhelm/storage"
)

// schemaDump returns the SQL statements of the SQLite schema after all migrations, without
// the tables of the job queue library (River). It creates a database for that in dir, which
// must be empty.
func schemaDump(ctx context.Context, dir string) (string, error) {
	if err := migrate(ctx, dir); err != nil {
		return "", err
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "mailhelm.db"))
	if err != nil {
		return "", err
	}
	defer db.Close() //nolint:errcheck // it was only read
	rows, err := db.QueryContext(ctx, `
		SELECT sql FROM sqlite_master
		WHERE sql IS NOT NULL AND tbl_name NOT LIKE 'river_%' AND tbl_name NOT LIKE 'sqlite_%' AND tbl_name <> 'schema_versions'
		ORDER BY tbl_name, type DESC, name`)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	var b strings.Builder
	b.WriteString("-- Written by \"make generate\": what the migrations in storage/schema add up to, as\n-- SQLite has it. PostgreSQL has the same tables, columns and indexes.\n")
	for rows.Next() {
		var statement string
		if err := rows.Scan(&statement); err != nil {
			return "", err
		}
		b.WriteString("\n" + statement + ";\n")
	}
	return b.String(), rows.Err()
}

// migrate creates a SQLite database with the complete schema in dir, and closes it.
func migrate(ctx context.Context, dir string) error {
	db, err := storage.Open(ctx, storage.Config{Dir: dir})
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	if err := db.Migrate(ctx); err != nil {
		_ = db.Close() // the first error says more
		return err
	}
	return db.Close()
}
