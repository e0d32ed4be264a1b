package orgmove_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/mailhelm/mailhelm/core"
	move "github.com/mailhelm/mailhelm/core/orgmove"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/orgmove"
)

// BenchmarkMove exports an organization whose contacts have five attributes, each contact with its
// slots, a list and a topic, and imports it into another database of the same kind. It reports rows a second, and
// how long a bare insert of the same rows takes: COPY on PostgreSQL, one prepared INSERT for each
// row on SQLite. MAILHELM_MOVED_CONTACTS is the number of contacts, 25,000 by default.
func BenchmarkMove(b *testing.B) {
	contacts := 25_000
	if text := os.Getenv("MAILHELM_MOVED_CONTACTS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			b.Fatal(err)
		}
		contacts = n
	}
	for name, postgres := range map[string]bool{"sqlite": false, "postgres": true} {
		b.Run(name, func(b *testing.B) {
			key := newKey(b)
			source := newInstallation(b, postgres, 1)
			org := source.org("acme")
			source.fillContacts(org.ID, contacts)
			var exporting, importing, bare time.Duration
			var rows, size int64
			for b.Loop() {
				began := time.Now()
				archive, done := source.export(org.ID, key)
				exporting += time.Since(began)
				rows, size = done.Manifest.Rows(), int64(len(archive))

				target := newInstallation(b, postgres, 2)
				began = time.Now()
				_, err := target.importer().Read(b.Context(), bytes.NewReader(archive), []age.Identity{key}, move.Options{})
				target.must(err)
				importing += time.Since(began)

				plain := newInstallation(b, postgres, 3)
				bare += plain.insertBare(source, org)
			}
			all := float64(rows) * float64(b.N)
			b.ReportMetric(all/exporting.Seconds(), "exported/s")
			b.ReportMetric(all/importing.Seconds(), "imported/s")
			b.ReportMetric(all/bare.Seconds(), "inserted/s")
			b.ReportMetric(bare.Seconds()/importing.Seconds(), "import/insert")
			b.ReportMetric(float64(size)/float64(rows), "B/row")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// fillContacts stores contacts.
func (i installation) fillContacts(orgID string, n int) {
	i.t.Helper()
	to := orgmove.NewTarget(i.db.DB, i.master, "", func(context.Context, string) error { return nil })
	header, err := orgmove.NewSource(i.db.DB, i.master).Header(i.t.Context(), orgID)
	i.must(err)
	lines := map[string]*bytes.Buffer{}
	columns := map[string][]string{}
	for _, t := range header.Tables {
		lines[t.Name], columns[t.Name] = &bytes.Buffer{}, t.Columns
	}
	add := func(table string, values map[string]string) {
		for k, column := range columns[table] {
			value, ok := values[column]
			if !ok {
				value = "null"
			}
			separator := ","
			if k == 0 {
				separator = "["
			}
			lines[table].WriteString(separator + value)
		}
		lines[table].WriteString("]\n")
	}
	list := core.NewID()
	add("lists", map[string]string{
		"id": quoted(list), "key": `"news"`, "name": `"News"`, "description": `""`, "search": `"news"`, "source": `"api"`, "origin": `"api"`, "source_path": `""`, "status": `"active"`, "created_at": "1", "updated_at": "1",
	})
	for k := range n {
		id, email := quoted(core.NewID()), fmt.Sprintf(`"person%07d@example.com"`, k)
		attributes := fmt.Sprintf(`{"plan":"pro","city":"Lisbon %d","age":%d,"since":"2026-03-04T05:06:07Z","active":true}`, k%1000, k%90)
		add("contacts", map[string]string{
			"id": id, "email": email, "email_key": email, "external_id": fmt.Sprintf(`"customer-%d"`, k), "status": `"active"`, "attributes": strconv.Quote(attributes), "topic_preferences": `"+news"`,
			"unsubscribe_all": "false", "shell": "false", "created_at": "1772600767000000", "updated_at": "1772600767000000", "stub": "false", "consent_changes": `"{}"`,
		})
		add("contact_slots", map[string]string{
			"contact_id": id, "s1": `"pro"`, "s2": fmt.Sprintf(`"Lisbon %d"`, k%1000), "n1": strconv.Itoa(k % 90), "t1": "1772600767000000", "n2": "1", "long_texts": `""`,
		})
		add("list_members", map[string]string{"list_id": quoted(list), "contact_id": id, "added_at": "1772600767000000"})
		add("contact_topics", map[string]string{"contact_id": id, "topic": `"news"`, "subscription": `"OPT_IN"`})
	}
	// The organization is filled by an import of its own.
	i.must(closingErase(i, orgID))
	i.must(to.Begin(i.t.Context(), move.Arrival{Header: header, Slug: "acme"}))
	for _, table := range []string{"lists", "contacts", "contact_slots", "contact_topics", "list_members"} {
		if _, err := to.Load(i.t.Context(), table, lines[table].Bytes()); err != nil {
			i.t.Fatal(err)
		}
	}
	_, err = to.Finish(i.t.Context())
	i.must(err)
}

// closingErase deletes the empty organization.
func closingErase(i installation, orgID string) error {
	_, err := i.db.Writer().ExecContext(i.t.Context(), `DELETE FROM orgs WHERE id = $1`, orgID)
	return err
}

func quoted(s string) string { return `"` + s + `"` }

// insertBare inserts the rows of the organization of another installation without any check, in
// transactions of 2,000 rows, and returns how long that took without reading them.
func (i installation) insertBare(from installation, org core.Org) time.Duration {
	i.t.Helper()
	ctx := i.t.Context()
	i.must(i.db.Orgs().InsertOrg(ctx, org))
	var took time.Duration
	for _, table := range []string{"lists", "contacts", "contact_slots", "contact_topics", "list_members"} {
		took += i.copyBare(from, org, table)
	}
	return took
}

// copyBare inserts the rows of a table.
func (i installation) copyBare(from installation, org core.Org, table string) (took time.Duration) {
	i.t.Helper()
	ctx := i.t.Context()
	rows, err := from.db.Reader().QueryContext(ctx, `SELECT * FROM `+table+` WHERE org_id = $1`, org.ID)
	i.must(err)
	defer rows.Close()
	columns, err := rows.Columns()
	i.must(err)
	var batch [][]any
	store := func() {
		began := time.Now()
		i.must(i.storeBare(table, columns, batch))
		took += time.Since(began)
		batch = nil
	}
	for rows.Next() {
		values, targets := make([]any, len(columns)), make([]any, len(columns))
		for k := range values {
			targets[k] = &values[k]
		}
		i.must(rows.Scan(targets...))
		for k, value := range values {
			if text, ok := value.([]byte); ok { // as lib/pq returns texts
				values[k] = string(text)
			}
		}
		if batch = append(batch, values); len(batch) == 2000 {
			store()
		}
	}
	store()
	i.must(rows.Err())
	return took
}

// storeBare inserts rows in a transaction.
func (i installation) storeBare(table string, columns []string, rows [][]any) error {
	ctx := i.t.Context()
	tx, err := i.db.Writer().BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	text := `COPY ` + table + ` (` + strings.Join(columns, ", ") + `) FROM STDIN`
	if i.db.Dialect() == engine.SQLite {
		marks := make([]string, len(columns))
		for k := range marks {
			marks[k] = "$" + strconv.Itoa(k+1)
		}
		text = `INSERT INTO ` + table + ` (` + strings.Join(columns, ", ") + `) VALUES (` + strings.Join(marks, ", ") + `)`
	}
	stmt, err := tx.PrepareContext(ctx, text)
	if err != nil {
		return err
	}
	defer func() { _ = stmt.Close() }()
	for _, row := range rows {
		if _, err := stmt.ExecContext(ctx, row...); err != nil {
			return err
		}
	}
	if i.db.Dialect() == engine.PostgreSQL {
		if _, err := stmt.ExecContext(ctx); err != nil {
			return err
		}
	}
	return tx.Commit()
}
