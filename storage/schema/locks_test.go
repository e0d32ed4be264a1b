package schema_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/storage/schema"
)

// lockComment begins the comment with which each migration says what it locks on PostgreSQL.
const lockComment = "-- Locks on PostgreSQL:"

var (
	comments   = regexp.MustCompile(`--[^\n]*`)
	creates    = regexp.MustCompile(`CREATE TABLE (\w+)`)
	indexes    = regexp.MustCompile(`CREATE (?:UNIQUE )?INDEX (\w+)\s+ON (\w+)`)
	drops      = regexp.MustCompile(`DROP INDEX (\w+)`)
	alters     = regexp.MustCompile(`ALTER TABLE (\w+)`)
	references = regexp.MustCompile(`REFERENCES (\w+)`)
	triggers   = regexp.MustCompile(`CREATE TRIGGER \w+ AFTER [A-Z ]+ ON (\w+)`)
	changes    = regexp.MustCompile(`\b(?:INSERT INTO|UPDATE|DELETE FROM) (\w+)`)
)

// catalogue is what the migrations before one have created.
type catalogue struct {
	tables  map[string]bool
	indexed map[string]string // the table of each index
}

// locked returns the existing tables that a migration locks more than a reader does, with the
// strongest lock: "ACCESS EXCLUSIVE", "SHARE ROW EXCLUSIVE", "SHARE" or "ROW EXCLUSIVE". Then it
// adds what the migration creates to the catalogue.
func (c catalogue) locked(sql string) map[string]string {
	sql = comments.ReplaceAllString(sql, "")
	own := map[string]bool{}
	for _, found := range creates.FindAllStringSubmatch(sql, -1) {
		own[found[1]] = true
	}
	for _, found := range indexes.FindAllStringSubmatch(sql, -1) {
		c.indexed[found[1]] = found[2]
	}
	locks := map[string]string{}
	add := func(lock string, expression *regexp.Regexp, group int) {
		for _, found := range expression.FindAllStringSubmatch(sql, -1) {
			table := found[group]
			if expression == drops {
				table = c.indexed[table]
			}
			if c.tables[table] && !own[table] {
				locks[table] = lock
			}
		}
	}
	// A later line replaces a weaker lock of the same table.
	add("ROW EXCLUSIVE", changes, 1)
	add("SHARE", indexes, 2)
	add("SHARE ROW EXCLUSIVE", references, 1)
	add("SHARE ROW EXCLUSIVE", triggers, 1)
	add("ACCESS EXCLUSIVE", drops, 1)
	add("ACCESS EXCLUSIVE", alters, 1)
	maps.Copy(c.tables, own)
	return locks
}

// statedLocks returns the locks that the comment of a migration states, by table.
func statedLocks(comment string) map[string]string {
	stated := map[string]string{}
	for _, group := range regexp.MustCompile(`([a-z_0-9]+(?:, [a-z_0-9]+)*) \(([A-Z ]+):`).FindAllStringSubmatch(comment, -1) {
		for table := range strings.SplitSeq(group[1], ", ") {
			stated[table] = group[2]
		}
	}
	return stated
}

// TestMigrationsStateTheirLocks checks that each migration begins with a comment that states
// what it locks on PostgreSQL and for how long, and that the stated tables and locks are those
// of its statements. See the guide "Update, roll back, and what a migration locks".
func TestMigrationsStateTheirLocks(t *testing.T) {
	t.Parallel()
	all, err := schema.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	before := catalogue{map[string]bool{"river_job": true}, map[string]string{}}
	for _, m := range all {
		locks := before.locked(m.SQL)
		head, _, _ := strings.Cut(m.SQL, "\n\n")
		if !strings.HasPrefix(head, lockComment) {
			t.Errorf("%04d_%s does not begin with %q, and the tables %v", m.Version, m.Name, lockComment, slices.Sorted(maps.Keys(locks)))
			continue
		}
		comment := strings.Join(strings.Fields(strings.ReplaceAll(head, "--", " ")), " ")
		stated := statedLocks(comment)
		if m.Version == 6 { // River's own statements
			delete(stated, "river_job")
		}
		if !maps.Equal(stated, locks) {
			t.Errorf("%04d_%s states the locks %v, and its statements take %v", m.Version, m.Name, stated, locks)
		}
		if len(locks) == 0 && m.Version != 6 && comment != "Locks on PostgreSQL: no existing table." {
			t.Errorf("%04d_%s locks no existing table and says: %s", m.Version, m.Name, comment)
		}
		if len(locks) > 0 && !regexp.MustCompile(`milliseconds|seconds|minutes|few|each segment|not finished|once`).MatchString(comment) {
			t.Errorf("%04d_%s does not say for how long: %s", m.Version, m.Name, comment)
		}
	}
}
