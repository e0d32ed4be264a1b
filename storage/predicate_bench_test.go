package storage_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/storage"
)

var (
	predicateContacts   = flag.Int("predicate.contacts", 20_000, "how many contacts the benchmark of predicates has")
	predicateActivities = flag.Int("predicate.activities", 2, "how many activities each of them has, over a year")
	predicateAnalyze    = flag.Bool("predicate.analyze", false, "give SQLite statistics, which it does not gather by itself")
)

// predicateNow is the time at which the benchmark's predicate is evaluated.
var predicateNow = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// byHand has handwritten SQL for the benchmark's predicate. The benchmark compares the
// compiled SQL with the fastest handwritten text on each engine.
var byHand = map[string]string{
	"exists": `SELECT count(*) FROM contact_slots AS s WHERE s.org_id = $1 AND s.s1 = 'pro' AND s.n1 > 100
		AND EXISTS (SELECT 1 FROM activities AS a WHERE a.org_id = $1 AND a.contact_id = s.contact_id AND a.name = 'purchase' AND a.occurred_at BETWEEN $2 AND $3)`,
	"in": `SELECT count(*) FROM contact_slots AS s WHERE s.org_id = $1 AND s.s1 = 'pro' AND s.n1 > 100
		AND s.contact_id IN (SELECT a.contact_id FROM activities AS a WHERE a.org_id = $1 AND a.name = 'purchase' AND a.occurred_at BETWEEN $2 AND $3)`,
	"distinct": `SELECT count(*) FROM (SELECT DISTINCT a.contact_id FROM activities AS a WHERE a.org_id = $1 AND a.name = 'purchase' AND a.occurred_at BETWEEN $2 AND $3) AS b
		JOIN contact_slots AS s ON s.org_id = $1 AND s.contact_id = b.contact_id WHERE s.s1 = 'pro' AND s.n1 > 100`,
}

// BenchmarkPredicate counts the contacts that match a predicate, with the compiled SQL and
// with the handwritten SQL in byHand. It reports the median times, and the ratio of the
// compiled SQL to the fastest handwritten one.
func BenchmarkPredicate(b *testing.B) {
	eachBench(b, func(b *testing.B, db *storage.DB) {
		orgID := core.NewID()
		if err := fillBench(b.Context(), db, orgID, *predicateContacts); err != nil {
			b.Fatal(err)
		}
		schema := predicate.Schema{Attributes: map[string]predicate.AttributeType{"plan": {Type: predicate.String}, "mrr": {Type: predicate.Number}}}
		checked, err := predicate.Compile(`attr.plan = "pro" and attr.mrr > 100 and count(activity.purchase within 30d) >= 1`, schema)
		if err != nil {
			b.Fatal(err)
		}
		question := segments.Question{OrgID: orgID, Predicate: checked, Slots: map[string]string{"plan": "s1", "mrr": "n1"}, Now: predicateNow}
		took, counts := map[string][]time.Duration{}, map[int]bool{}
		for b.Loop() {
			begun := time.Now()
			n, err := db.SegmentMembers().CountMatching(b.Context(), question)
			if err != nil {
				b.Fatal(err)
			}
			took["ours"], counts[n] = append(took["ours"], time.Since(begun)), true
			for name, text := range byHand {
				if name == "exists" && db.Engine() == "sqlite" {
					// The handwritten SQL "exists" is not measured on SQLite. SQLite would
					// search the index of activities by name once for each contact, which takes
					// minutes.
					continue
				}
				begun := time.Now()
				row := db.Reader().QueryRowContext(b.Context(), text, orgID, predicateNow.Add(-30*24*time.Hour).UnixMicro(), predicateNow.UnixMicro())
				if err := row.Scan(&n); err != nil {
					b.Fatal(err)
				}
				took[name], counts[n] = append(took[name], time.Since(begun)), true
			}
		}
		best := time.Hour
		for name, all := range took {
			slices.Sort(all)
			median := all[len(all)/2]
			b.ReportMetric(float64(median.Microseconds())/1000, name+"-ms")
			if name != "ours" {
				best = min(best, median)
			}
		}
		b.ReportMetric(float64(took["ours"][len(took["ours"])/2])/float64(best), "ratio")
		if len(counts) != 1 {
			b.Errorf("the ways count %v", counts)
		}
	})
}

const (
	benchChunk = 100_000
	// predicateID is an SQL expression for a contact's id. The query must have the contact's
	// number in the column n of a table or subquery named i.
	predicateID = `'0190a000-0000-7000-8000-' || substr('000000000000' || CAST(i.n AS text), length(CAST(i.n AS text)) + 1)`
)

// benchActivities inserts one activity for each contact, in the order of the primary key.
// The times cover a year. A quarter of the contacts have only purchases. Of the activities
// of another quarter of the contacts, half are purchases.
const benchActivities = `INSERT INTO activities (org_id, occurred_at, id, contact_id, name, properties, source, received_at)
	SELECT CAST($3 AS text), CAST($4 AS bigint) - ((CAST(i.n AS bigint) * 97 + %[1]d * 211) %% 365) * 86400000000 - i.n, '%[1]d-' || i.n, ` + predicateID + `,
	CASE WHEN i.n %% (2 + 2 * (%[1]d %% 2)) = 0 THEN 'purchase' ELSE 'visit-' || (i.n %% 7) END, '{}', 'api', 1 FROM i ORDER BY 2`

// fillBench inserts contacts with activities. A fifth of the contacts have the value "pro"
// in the attribute plan. Four fifths have a value of the attribute mrr above the
// predicate's limit. A twelfth of the purchases are in the time window. It creates the
// indexes of activities after the rows, which is much faster.
func fillBench(ctx context.Context, db *storage.DB, orgID string, contacts int) error {
	texts := []string{
		`INSERT INTO contacts (org_id, id, email, email_key, status, attributes, topic_preferences, unsubscribe_all, created_at, updated_at)
			SELECT CAST($3 AS text), ` + predicateID + `, 'c' || i.n || '@example.com', 'c' || i.n || '@example.com', 'active', '{}', '{}', FALSE, i.n, i.n FROM i`,
		`INSERT INTO contact_slots (org_id, contact_id, s1, s2, n1, n2)
			SELECT CAST($3 AS text), ` + predicateID + `, CASE WHEN i.n % 5 = 0 THEN 'pro' ELSE 'free' END, 'x' || (i.n % 100), (i.n * 7) % 500, i.n FROM i`,
	}
	for k := range *predicateActivities {
		texts = append(texts, fmt.Sprintf(benchActivities, k))
	}
	remake, err := dropIndexes(ctx, db, "activities_by_name", "activities_of_contact")
	if err != nil {
		return err
	}
	for _, text := range texts {
		for first := 1; first <= contacts; first += benchChunk {
			args := []any{first, min(first+benchChunk-1, contacts), orgID, predicateNow.UnixMicro()}
			text := `WITH RECURSIVE i (n) AS (SELECT CAST($1 AS integer) UNION ALL SELECT i.n + 1 FROM i WHERE i.n < CAST($2 AS integer)) ` + text
			if _, err := db.Writer().ExecContext(ctx, text, args[:3+strings.Count(text, "$4")]...); err != nil {
				return fmt.Errorf("rows from %d: %w", first, err)
			}
		}
	}
	if db.Engine() == "sqlite" && *predicateAnalyze {
		remake = append(remake, `PRAGMA analysis_limit=1000`, `ANALYZE`)
	}
	if db.Engine() == "postgres" { // as autovacuum would
		remake = append(remake, `VACUUM ANALYZE`)
	}
	for _, text := range remake {
		if _, err := db.Writer().ExecContext(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

// dropIndexes drops indexes and returns the SQL statements that create them again.
func dropIndexes(ctx context.Context, db *storage.DB, names ...string) ([]string, error) {
	find := `SELECT sql FROM sqlite_master WHERE name = $1`
	if db.Engine() == "postgres" {
		find = `SELECT indexdef FROM pg_indexes WHERE indexname = $1`
	}
	var made []string
	for _, name := range names {
		var text string
		if err := db.Writer().QueryRowContext(ctx, find, name).Scan(&text); err != nil {
			return nil, fmt.Errorf("index %s: %w", name, err)
		}
		if _, err := db.Writer().ExecContext(ctx, `DROP INDEX `+name); err != nil {
			return nil, err
		}
		made = append(made, text)
	}
	return made, nil
}
