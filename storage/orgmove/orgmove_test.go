package orgmove_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/mailhelm/mailhelm/core"
	move "github.com/mailhelm/mailhelm/core/orgmove"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/closing"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/orgmove"
	"github.com/mailhelm/mailhelm/storage/sealed"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// installation is a database with its master key and its objects.
type installation struct {
	t       testing.TB
	db      *storage.DB
	master  signing.MasterKey
	objects memory
}

// newInstallation returns an installation with the master key of n.
func newInstallation(t testing.TB, postgres bool, n byte) installation {
	t.Helper()
	db := storagetest.SQLite
	if postgres {
		db = storagetest.Postgres
	}
	master, err := signing.NewMasterKey(bytes.Repeat([]byte{n}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return installation{t, db(t), master, memory{}}
}

// memory has objects by their keys.
type memory map[string][]byte

func (m memory) Each(_ context.Context, orgID string, do func(string, func() (io.ReadCloser, error)) error) error {
	keys := make([]string, 0, len(m))
	for key := range m {
		if strings.HasPrefix(key, orgID+"/") {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		if err := do(key, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(m[key])), nil }); err != nil {
			return err
		}
	}
	return nil
}

func (m memory) Put(_ context.Context, _, key string, body io.Reader, size int64) error {
	content, err := io.ReadAll(body)
	if err == nil && int64(len(content)) != size {
		err = fmt.Errorf("%d bytes", len(content))
	}
	m[key] = content
	return err
}

func (m memory) Clear(_ context.Context, orgID string) error {
	for key := range m {
		if strings.HasPrefix(key, orgID+"/") {
			delete(m, key)
		}
	}
	return nil
}

// export returns the archive of an organization.
func (i installation) export(orgID string, key *age.X25519Identity) ([]byte, move.Exported) {
	i.t.Helper()
	var archive bytes.Buffer
	done, err := i.exporter().Write(i.t.Context(), &archive, []age.Recipient{key.Recipient()}, orgID, true)
	if err != nil {
		i.t.Fatal(err)
	}
	return archive.Bytes(), done
}

func (i installation) exporter() move.Export {
	return move.Export{
		Source: orgmove.NewSource(i.db.DB, i.master), Objects: i.objects, Clock: func() time.Time { return start }, Program: "test",
		Progress: func(int64, int64, string) {},
	}
}

func (i installation) importer() move.Import {
	return move.Import{
		Target: orgmove.NewTarget(i.db.DB, i.master, "no password", func(context.Context, string) error { return nil }), Objects: i.objects, Progress: func(int64, string) {}, Rollback: time.Minute,
	}
}

var start = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func newKey(t testing.TB) *age.X25519Identity {
	t.Helper()
	key, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// fill stores an organization with rows in every table, and returns it. Each column has a value
// that tells it apart, as far as its type allows.
func (i installation) fill(slug string) core.Org {
	t := i.t
	t.Helper()
	org := core.Org{ID: core.NewID(), Name: "Acme " + slug, Slug: slug, Tier: "team", RetentionDays: 90, PlatformMode: true}
	if err := i.db.Orgs().InsertOrg(t.Context(), org); err != nil {
		t.Fatal(err)
	}
	tx, err := i.db.Writer().BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	for _, table := range slices.Backward(closing.OrgTables()) {
		i.plant(tx, org.ID, table)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		key := fmt.Sprintf("%s/message-%d/raw.eml", org.ID, n)
		i.objects[key] = bytes.Repeat([]byte{byte(n)}, n*1000)
	}
	return org
}

// typed is a column with its type.
type typed struct {
	name, kind string
	nullable   bool
}

// columnsOf returns the columns of a table of the schema.
func columnsOf(t testing.TB, db *storage.DB, table string) []typed {
	t.Helper()
	query := `SELECT name, lower(type), "notnull" = 0 AND pk = 0 FROM pragma_table_info($1) ORDER BY name`
	if db.Dialect() == engine.PostgreSQL {
		query = `SELECT column_name, data_type, is_nullable = 'YES' FROM information_schema.columns
			WHERE table_schema = current_schema() AND table_name = $1 ORDER BY column_name`
	}
	rows, err := db.Reader().QueryContext(t.Context(), query, table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all []typed
	for rows.Next() {
		var c typed
		if err := rows.Scan(&c.name, &c.kind, &c.nullable); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// plant stores a row with all columns in a table. Texts of keys are the id of the organization, so
// that rows refer to each other; other texts have characters that formats must escape.
func (i installation) plant(tx *sql.Tx, orgID string, table closing.OrgTable) {
	i.t.Helper()
	secrets := map[string]sealed.Column{}
	for _, c := range sealed.Columns() {
		secrets[c.String()] = c
	}
	var names, marks []string
	var values []any
	for n, c := range columnsOf(i.t, i.db, table.Name) {
		var value any
		switch {
		case secrets[table.Name+"."+c.name].Purpose != "":
			s := secrets[table.Name+"."+c.name]
			sealedValue, err := i.master.Seal(s.Purpose, strings.Join(slices.Repeat([]string{orgID}, len(s.Key)), "/"), []byte("secret of "+s.String()))
			if err != nil {
				i.t.Fatal(err)
			}
			value = sealedValue
		case c.name == "removed_at" || c.name == "erasing_at" || c.name == "deleted_at":
			value = nil
		case strings.Contains(c.kind, "text") && (c.nullable || strings.HasPrefix(c.name, "body") || c.name == "html" || c.name == "reason"):
			value = "\"quoted\" \\ <b> é 中 \U0001f600 \u2028 \t\n\x01" + c.name
		case strings.Contains(c.kind, "text"):
			value = orgID
		case strings.Contains(c.kind, "byte"):
			value = []byte("\x00\xff" + orgID)
		case strings.Contains(c.kind, "bool"):
			value = n%2 == 0
		case strings.Contains(c.kind, "double"):
			value = []float64{0.1, 1e300, -5e-324, 3, 9007199254740993}[n%5]
		case strings.Contains(c.kind, "bigint"):
			value = int64(9_007_199_254_740_993) + int64(n)
		default:
			value = n
		}
		names, marks, values = append(names, c.name), append(marks, fmt.Sprintf("$%d", n+1)), append(values, value)
	}
	insert := `INSERT INTO ` + table.Name + ` (` + strings.Join(names, ", ") + `) VALUES (` + strings.Join(marks, ", ") + `)`
	if _, err := tx.ExecContext(i.t.Context(), insert, values...); err != nil {
		i.t.Fatalf("%s: %v", table.Name, err)
	}
}

// TestMovesBetweenAllDatabases exports an organization with a row in every table, imports it into
// another installation with another master key, and goes on from there: within and between both
// databases. Each export must have the same rows in every table, byte by byte, and every object the
// same content.
func TestMovesBetweenAllDatabases(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	source := newInstallation(t, false, 1)
	org := source.fill("acme")
	archive, first := source.export(org.ID, key)
	if bytes.Contains(archive, []byte("secret of")) {
		t.Error("the archive has a secret in clear")
	}
	for _, table := range first.Manifest.Tables {
		if table.Rows != 1 {
			t.Errorf("%d rows of %s are exported", table.Rows, table.Name)
		}
	}
	for n, postgres := range []bool{false, true, true, false} {
		target := newInstallation(t, postgres, byte(n+2))
		other := target.fill("other")
		before := target.count(other.ID)
		done, err := target.importer().Read(t.Context(), bytes.NewReader(archive), []age.Identity{key}, move.Options{})
		if err != nil {
			t.Fatalf("move %d: %v", n, err)
		}
		if done.Slug != "acme" || done.Manifest.Rows() < 100 {
			t.Errorf("imported %s with %d rows", done.Slug, done.Manifest.Rows())
		}
		var next move.Exported
		archive, next = target.export(org.ID, key)
		if diff := cmp.Diff(withoutFormerKeys(first.Manifest), withoutFormerKeys(next.Manifest)); diff != "" {
			t.Errorf("move %d: exported again: %s", n, diff)
		}
		if diff := cmp.Diff(first.Header, next.Header, cmpopts.IgnoreFields(move.Header{}, "ErasedKey")); diff != "" {
			t.Errorf("move %d: the header: %s", n, diff)
		}
		if diff := cmp.Diff(before, target.count(other.ID)); diff != "" {
			t.Errorf("move %d: the other organization: %s", n, diff)
		}
		if got, err := target.db.Orgs().OrgBySlug(t.Context(), "acme"); err != nil || got.ID != org.ID || got.IsDeleted() {
			t.Errorf("move %d: %+v, %v", n, got, err)
		}
	}
}

// withoutFormerKeys returns the sums of all tables but one, in which each move stores the key of the
// installation that it comes from.
func withoutFormerKeys(m move.Manifest) move.Manifest {
	m.Tables = slices.DeleteFunc(slices.Clone(m.Tables), func(t move.TableSum) bool { return t.Name == "erased_address_keys" })
	return m
}

// count returns the number of rows of an organization by table.
func (i installation) count(orgID string) any {
	i.t.Helper()
	rows, err := closing.NewOrgStore(i.db.DB).CountRows(i.t.Context(), orgID)
	if err != nil {
		i.t.Fatal(err)
	}
	return rows
}

// TestStayingTablesExist checks that each table that does not move is a table of an organization and
// has a reason. Every other table moves; TestMovesBetweenAllDatabases fails for one that does not.
func TestStayingTablesExist(t *testing.T) {
	t.Parallel()
	moving := orgmove.Tables()
	stays := orgmove.Stays()
	for _, table := range closing.OrgTables() {
		moves := slices.ContainsFunc(moving, func(m move.Table) bool { return m.Name == table.Name })
		if reason := stays[table.Name]; moves == (reason != "") {
			t.Errorf("%s moves: %v, and stays because %q", table.Name, moves, reason)
		}
		delete(stays, table.Name)
	}
	for table := range stays {
		t.Errorf("%s does not exist", table)
	}
}
