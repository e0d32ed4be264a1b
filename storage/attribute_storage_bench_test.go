package storage_test

import (
	"database/sql"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/storage"
)

// BenchmarkAttributeStorage compares the cost of predicates and of updates for four ways of
// storing attributes: the contact's JSON; typed columns ("slots"); some attributes in slots
// and the others in the JSON; one row for each value. Contacts have 20 attributes; every
// second contact lacks the last ten. Environment variables set the number of contacts and
// activities:
//
//	MAILHELM_BENCH_CONTACTS=1000000 MAILHELM_BENCH_ACTIVITIES=10000000 go test ./storage \
//	    -run NONE -bench AttributeStorage -benchtime 5x -timeout 2h
//
// With these numbers the SQLite database takes 12 GB of disk; after it is deleted, the
// PostgreSQL database takes as much.
func BenchmarkAttributeStorage(b *testing.B) {
	contacts, activities := benchSize(b, "MAILHELM_BENCH_CONTACTS", 10_000), benchSize(b, "MAILHELM_BENCH_ACTIVITIES", 100_000)
	eachBench(b, func(b *testing.B, db *storage.DB) {
		w := &attributeWorld{b: b, db: db, org: core.NewID(), contacts: contacts, activities: activities}
		w.load()
		for _, q := range w.queries() {
			b.Run(q.name, func(b *testing.B) {
				found := 0
				medianOf(b, func(int) { found = w.count(b, q.sql) })
				b.ReportMetric(float64(found), "found")
			})
		}
		for _, q := range w.writes() {
			b.Run(q.name, func(b *testing.B) {
				medianOf(b, func(i int) { w.write(b, q.sql, i) })
			})
		}
	})
}

// medianOf calls the function round until the benchmark ends, and reports the median
// duration of the calls, because other programs may slow down single calls. It also reports
// the processor time of a call in this process, which includes SQLite but not PostgreSQL.
func medianOf(b *testing.B, round func(i int)) {
	b.Helper()
	var took []time.Duration
	spent := processorTime()
	for i := 0; b.Loop(); i++ {
		started := time.Now()
		round(i)
		took = append(took, time.Since(started))
	}
	b.ReportMetric(float64((processorTime()-spent).Microseconds())/1000/float64(len(took)), "own-cpu-ms")
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "median-ms")
}

func benchSize(b *testing.B, variable string, otherwise int) int {
	b.Helper()
	setting := os.Getenv(variable)
	if setting == "" {
		return otherwise
	}
	n, err := strconv.Atoi(setting)
	if err != nil {
		b.Fatal(err)
	}
	return n
}

type attributeWorld struct {
	b                    *testing.B
	db                   *storage.DB
	org                  string
	contacts, activities int
}

const (
	benchNow  = 1_772_366_400_000_000 // microseconds
	benchStep = 500_000               // rows per statement
)

// benchAttribute is one of the 20 attributes. The field value is an SQL expression over i,
// the number of the contact. quoted is true if that expression gives a text.
type benchAttribute struct {
	name, slot, value string
	quoted            bool
}

// benchAttributes returns 10 texts, 6 numbers, 2 booleans and 2 times. Most SQL expressions
// of the values multiply the contact's number i by a prime, so that contacts with adjacent
// numbers mostly have different values.
func benchAttributes() []benchAttribute {
	var all []benchAttribute
	add := func(kind string, n int, name, value string, quoted bool) {
		all = append(all, benchAttribute{name, kind + strconv.Itoa(n), value, quoted})
	}
	add("s", 1, "plan", `CASE i * 7919 % 8 WHEN 0 THEN 'pro' WHEN 1 THEN 'pro' WHEN 2 THEN 'team' WHEN 3 THEN 'trial' ELSE 'free' END`, true)
	add("s", 2, "city", `'city-' || (i * 104729 % 5000)`, true)
	add("n", 1, "mrr", `i * 611953 % 1000`, false)
	add("n", 2, "seats", `i * 7907 % 50`, false)
	for n := 3; n <= 6; n++ {
		add("n", n, fmt.Sprintf("figure_%d", n), fmt.Sprintf(`i * 15485863 %% %d`, 1000*n), false)
	}
	for n := 3; n <= 10; n++ {
		add("s", n, fmt.Sprintf("text_%d", n), fmt.Sprintf(`'value-' || (i * 32452843 %% %d)`, 100*n), true)
	}
	add("n", 7, "active", `i % 2`, false)
	add("n", 8, "paying", `i * 7919 % 3 / 2`, false)
	add("t", 1, "signed_up", fmt.Sprintf(`%d - i * 7919 %% 94608000 * 1000000`, benchNow), false)
	add("t", 2, "last_seen", fmt.Sprintf(`%d - i * 104729 %% 7776000 * 1000000`, benchNow), false)
	return all
}

func (w *attributeWorld) exec(query string, args ...any) {
	w.b.Helper()
	if _, err := w.db.Writer().ExecContext(w.b.Context(), query, args...); err != nil {
		w.b.Fatalf("%v\n%s", err, query)
	}
}

// series runs the statement insert, an INSERT ... SELECT, for the numbers i from 1 to n,
// benchStep rows at a time. It replaces %s in the statement by the table of these numbers.
func (w *attributeWorld) series(n int, insert string) {
	for from := 0; from < n; from += benchStep {
		insertStep := fmt.Sprintf(insert, fmt.Sprintf(`(WITH RECURSIVE n(i) AS (SELECT CAST(%d AS bigint) UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT i FROM n) AS n`,
			from+1, min(from+benchStep, n)))
		w.exec(insertStep)
	}
}

const benchID = `'01950000-0000-7000-8000-' || substr(CAST(1000000000000 + %s AS text), 2)`

func (w *attributeWorld) load() {
	w.timed("contacts", w.loadContacts)
	w.timed("slots", w.loadSlots)
	w.timed("activities", w.loadActivities)
	w.timed("value rows", w.loadValues)
	w.exec(`ANALYZE`)
}

// timed calls the function load, and logs how long it took and by how many megabytes the
// database grew.
func (w *attributeWorld) timed(what string, load func()) {
	started, before := time.Now(), w.size()
	load()
	w.b.Logf("%s %s: %d MB in %v", w.db.Engine(), what, (w.size()-before)>>20, time.Since(started).Round(time.Second))
}

func (w *attributeWorld) size() int64 {
	query := `SELECT pg_database_size(current_database())`
	if w.db.Engine() == "sqlite" {
		query = `SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()`
	}
	var size int64
	if err := w.db.Writer().QueryRowContext(w.b.Context(), query).Scan(&size); err != nil {
		w.b.Fatal(err)
	}
	return size
}

func (w *attributeWorld) loadContacts() {
	var members []string
	for k, a := range benchAttributes() {
		value := `(` + a.value + `)`
		switch {
		case a.quoted:
			value = `'"' || ` + value + ` || '"'`
		case k >= 16 && strings.HasPrefix(a.slot, "n"):
			value = `CASE ` + value + ` WHEN 1 THEN 'true' ELSE 'false' END`
		}
		member := fmt.Sprintf(`'"%s":' || %s`, a.name, value)
		if k >= 10 {
			member = fmt.Sprintf(`CASE i %% 2 WHEN 0 THEN %s || ',' ELSE '' END`, member)
		} else {
			member += ` || ','`
		}
		members = append(members, member)
	}
	w.series(w.contacts, fmt.Sprintf(`INSERT INTO contacts (org_id, id, email, email_key, status, attributes, topic_preferences, unsubscribe_all, created_at, updated_at)
		SELECT '%s', %s, 'person' || i || '@example.com', 'person' || i || '@example.com', 'active',
			'{' || %s || '"z":0}', '{}', FALSE, i, i FROM %%s`, w.org, fmt.Sprintf(benchID, "i"), strings.ReplaceAll(strings.Join(members, ` || `), "%", "%%")))
}

// loadSlots fills the typed columns ("slots") of all contacts. It creates the indexes after
// the rows, as a restore of a backup does.
func (w *attributeWorld) loadSlots() {
	var columns, values []string
	for k, a := range benchAttributes() {
		value := a.value
		if k >= 10 {
			value = `CASE i % 2 WHEN 0 THEN ` + value + ` END`
		}
		columns, values = append(columns, a.slot), append(values, strings.ReplaceAll(value, "%", "%%"))
		w.exec(`DROP INDEX contact_slots_` + a.slot)
	}
	w.series(w.contacts, fmt.Sprintf(`INSERT INTO contact_slots (org_id, contact_id, %s) SELECT '%s', %s, %s FROM %%s`,
		strings.Join(columns, ", "), w.org, fmt.Sprintf(benchID, "i"), strings.Join(values, ", ")))
	for _, column := range columns {
		w.exec(fmt.Sprintf(`CREATE INDEX contact_slots_%[1]s ON contact_slots (org_id, %[1]s) WHERE %[1]s IS NOT NULL`, column))
	}
}

// loadActivities inserts activities that are spread over one year. One in ten is a
// purchase.
func (w *attributeWorld) loadActivities() {
	w.exec(`CREATE TABLE bench_activities (org_id ` + w.key() + `, occurred_at bigint, id ` + w.key() + `, contact_id ` + w.key() + `, name ` + w.key() + `,
		properties text, source text, received_at bigint, PRIMARY KEY (org_id, occurred_at, id))`)
	at := fmt.Sprintf(`%d - 31536000000000 + i * (31536000000000 / %d)`, benchNow, w.activities)
	w.series(w.activities, fmt.Sprintf(`INSERT INTO bench_activities SELECT '%s', %s, %s, %s,
		CASE i %%%% 10 WHEN 0 THEN 'purchase' WHEN 1 THEN 'signed_in' WHEN 2 THEN 'shared' ELSE 'viewed' END, '{"amount":12}', 'api', %s FROM %%s`,
		w.org, at, fmt.Sprintf(benchID, "i"), fmt.Sprintf(benchID, fmt.Sprintf(`(i * 7919 %%%% %d + 1)`, w.contacts)), at))
	w.exec(`CREATE INDEX bench_activities_by_contact ON bench_activities (org_id, name, contact_id, occurred_at)`)
}

// key returns the SQL type of id columns.
func (w *attributeWorld) key() string { return "bytetext" }

func (w *attributeWorld) loadValues() {
	w.exec(`CREATE TABLE bench_values (org_id bytetext, contact_id bytetext, name bytetext, s bytetext, n double precision, t bigint,
		PRIMARY KEY (org_id, contact_id, name))`)
	for k, a := range benchAttributes() {
		condition := ""
		if k >= 10 {
			condition = " WHERE i %% 2 = 0"
		}
		w.series(w.contacts, fmt.Sprintf(`INSERT INTO bench_values (org_id, contact_id, name, %s) SELECT '%s', %s, '%s', %s FROM %%s%s`,
			a.slot[:1], w.org, fmt.Sprintf(benchID, "i"), a.name, strings.ReplaceAll(a.value, "%", "%%"), condition))
	}
	for _, column := range []string{"s", "n", "t"} {
		w.exec(fmt.Sprintf(`CREATE INDEX bench_values_%[1]s ON bench_values (org_id, name, %[1]s, contact_id) WHERE %[1]s IS NOT NULL`, column))
	}
}

type benchQuery struct{ name, sql string }

// queries returns the benchmark queries: each predicate, for each way of storing
// attributes.
func (w *attributeWorld) queries() []benchQuery {
	month := fmt.Sprintf(`%d`, benchNow-30*24*int64(time.Hour/time.Microsecond))
	purchases := func(id string) string {
		return fmt.Sprintf(` AND %s IN (SELECT a.contact_id FROM bench_activities AS a WHERE a.org_id = '%s' AND a.name = 'purchase' AND a.occurred_at >= %s
			GROUP BY a.contact_id HAVING count(*) >= 1)`, id, w.org, month)
	}
	plan, mrr, city := w.json("plan"), `CAST(`+w.json("mrr")+` AS double precision)`, w.json("city")
	stores := []struct {
		name, from, plan, mrr, city, id string
	}{
		{"json", `contacts AS c WHERE c.status = 'active' AND c.org_id = '%s'`, plan, mrr, city, "c.id"},
		{"slots", `contact_slots AS t WHERE t.org_id = '%s'`, "t.s1", "t.n1", "t.s2", "t.contact_id"},
		{"both", `contact_slots AS t JOIN contacts AS c ON c.org_id = t.org_id AND c.id = t.contact_id WHERE t.org_id = '%s'`, "t.s1", mrr, city, "t.contact_id"},
	}
	var all []benchQuery
	for _, s := range stores {
		from := `SELECT count(*) FROM ` + fmt.Sprintf(s.from, w.org)
		all = append(all,
			benchQuery{"two attributes/" + s.name, from + ` AND ` + s.plan + ` = 'pro' AND ` + s.mrr + ` > 900`},
			benchQuery{"two attributes and an activity/" + s.name, from + ` AND ` + s.plan + ` = 'pro' AND ` + s.mrr + ` > 100` + purchases(s.id)},
		)
		if s.name == "both" {
			// The queries below test one attribute. "both" stores one attribute as "slots" or
			// "json" does, so it is not measured again.
			continue
		}
		all = append(all,
			benchQuery{"one in 5000/" + s.name, from + ` AND ` + s.city + ` = 'city-17'`},
			benchQuery{"three quarters/" + s.name, from + ` AND ` + s.plan + ` <> 'pro'`},
		)
	}
	value := func(name, condition string) string {
		return fmt.Sprintf(`SELECT v.contact_id FROM bench_values AS v WHERE v.org_id = '%s' AND v.name = '%s' AND v.%s`, w.org, name, condition)
	}
	from := `SELECT count(*) FROM (`
	return append(all,
		benchQuery{"two attributes/rows", from + value("plan", "s = 'pro'") + ` AND v.contact_id IN (` + value("mrr", "n > 900") + `)) AS f`},
		benchQuery{"two attributes and an activity/rows", from + value("plan", "s = 'pro'") + ` AND v.contact_id IN (` + value("mrr", "n > 100") + `)` + purchases("v.contact_id") + `) AS f`},
		benchQuery{"one in 5000/rows", from + value("city", "s = 'city-17'") + `) AS f`},
		benchQuery{"three quarters/rows", from + value("plan", "s <> 'pro'") + `) AS f`},
	)
}

func (w *attributeWorld) json(name string) string {
	return w.db.Dialect().Text(`(c.attributes/*pg ::json*/ ->> '` + name + `')`)
}

func (w *attributeWorld) count(b *testing.B, query string) int {
	b.Helper()
	var n int
	if err := w.db.Reader().QueryRowContext(b.Context(), query).Scan(&n); err != nil {
		b.Fatalf("%v\n%s", err, query)
	}
	return n
}

// writes returns the SQL updates for each way of storing attributes. They change the
// contacts whose ids are at least $1 and less than $2. The update of the contact's JSON
// changes one attribute; the updates of slots and of rows change two. Each round of the
// benchmark passes a range of 1,000 contacts.
func (w *attributeWorld) writes() []benchQuery {
	within := ` WHERE org_id = '` + w.org + `' AND %[1]s >= $1 AND %[1]s < $2`
	record := `UPDATE contacts SET attributes = replace(attributes, '"mrr":', '"mrr":1')` + fmt.Sprintf(within, "id")
	slots := `UPDATE contact_slots SET n1 = n1 + 1000, s1 = 'pro'` + fmt.Sprintf(within, "contact_id")
	rows := `UPDATE bench_values SET n = CASE name WHEN 'mrr' THEN n + 1000 END, s = CASE name WHEN 'plan' THEN 'pro' END` + fmt.Sprintf(within, "contact_id") + ` AND name IN ('mrr', 'plan')`
	return []benchQuery{{"write/json", record}, {"write/slots", slots}, {"write/both", record + ";" + slots}, {"write/rows", rows}}
}

func (w *attributeWorld) write(b *testing.B, statements string, round int) {
	b.Helper()
	tx, err := w.db.Writer().BeginTx(b.Context(), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	from := round * 1000 % w.contacts
	id := func(i int) string { return "01950000-0000-7000-8000-" + strconv.Itoa(1_000_000_000_000 + i)[1:] }
	for statement := range strings.SplitSeq(statements, ";") {
		var result sql.Result
		if result, err = tx.ExecContext(b.Context(), statement, id(from+1), id(from+1001)); err != nil {
			b.Fatalf("%v\n%s", err, statement)
		}
		if n, _ := result.RowsAffected(); n < 1000 {
			b.Fatalf("%d rows changed\n%s", n, statement)
		}
	}
	if err := tx.Commit(); err != nil {
		b.Fatal(err)
	}
}
