package bulk_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bulk"
	"github.com/mailhelm/mailhelm/core/consent"
	"github.com/mailhelm/mailhelm/storage"
	bulkstore "github.com/mailhelm/mailhelm/storage/bulk"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestBareLoaderWritesWhatAnImportWrites checks that LoadBare, with which the benchmark
// compares an import, writes the same amount of data. The numbers of rows, values and
// characters must be equal for every column.
func TestBareLoaderWritesWhatAnImportWrites(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		const rows = 2*importChunk + 7
		before := columnFigures(t, db)
		items, err := importing(db).Import(t.Context(), importOrg(t, db), consent.ByCommand, core.NewID(), importRows(0, rows))
		if err != nil || len(items) != rows || items[rows-1].Status != bulk.ItemCreated {
			t.Fatal(err, len(items))
		}
		imported := columnFigures(t, db)
		orgID := importOrg(t, db)
		if err := bulkstore.LoadBare(t.Context(), db.DB, orgID, core.NewID(), bareChunks(t, db, orgID, 0, rows), core.SystemClock()); err != nil {
			t.Fatal(err)
		}
		loaded := columnFigures(t, db)
		written := map[string]bool{}
		for column, after := range imported {
			by := [2]figures{after.less(before[column]), loaded[column].less(after)}
			if diff := cmp.Diff(by[0], by[1]); diff != "" {
				t.Errorf("%s: import -, loader +\n%s", column, diff)
			}
			if by[0].Rows > 0 {
				table, _, _ := strings.Cut(column, ".")
				written[table] = true
			}
		}
		want := map[string]bool{
			"attributes": true, "bulk_chunks": true, "bulk_jobs": true, "contact_pushes": true, "contact_slots": true,
			"contacts": true, "segment_touched": true,
		}
		if diff := cmp.Diff(want, written); diff != "" {
			t.Errorf("tables that an import writes: -want +got\n%s", diff)
		}
	})
}

// figures has, for one column of the database, the number of rows, of values that are not
// NULL, and of characters in them.
type figures struct{ Rows, Values, Bytes int }

func (f figures) less(g figures) figures {
	return figures{f.Rows - g.Rows, f.Values - g.Values, f.Bytes - g.Bytes}
}

// tableColumns has, by engine, the query that lists every column of every table.
var tableColumns = map[string]string{
	"sqlite": `
		SELECT t.name, c.name FROM sqlite_master AS t, pragma_table_info(t.name) AS c
		WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'`,
	"postgres": `
		SELECT c.table_name, c.column_name FROM information_schema.columns AS c
		JOIN information_schema.tables AS t ON t.table_schema = c.table_schema AND t.table_name = c.table_name
		WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE' AND c.table_name NOT IN (SELECT relname FROM pg_class WHERE relispartition)`,
}

// columnFigures returns, for every column of the database, the number of rows, of values
// and of characters. The keys have the form "table.column".
func columnFigures(t *testing.T, db *storage.DB) map[string]figures {
	t.Helper()
	rows, err := db.Reader().QueryContext(t.Context(), tableColumns[db.Engine()])
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	all := map[string]figures{}
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			t.Fatal(err)
		}
		var f figures
		query := fmt.Sprintf(`SELECT count(*), count(%[1]q), coalesce(sum(length(CAST(%[1]q AS text))), 0) FROM %[2]q`, column, table)
		if err := db.Reader().QueryRowContext(t.Context(), query).Scan(&f.Rows, &f.Values, &f.Bytes); err != nil {
			t.Fatal(err)
		}
		all[table+"."+column] = f
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
