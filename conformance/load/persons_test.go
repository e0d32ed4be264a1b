package load

import (
	"context"
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/persons"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/privacy"
	"github.com/mailhelm/mailhelm/storage/workflows"
)

var personsAround = flag.Int("load.persons", 100_000, "how many other contacts an organization has in the benchmark of erasures")

// crowd inserts the rows of contacts with the numbers 1 to N: each has two messages with three
// events, two activities, two changes of lists, two lines in the audit log and an event of a
// workflow. Addresses are those of person.
var crowd = []string{
	`INSERT INTO contacts (org_id, id, email, email_key, status, attributes, topic_preferences, unsubscribe_all, created_at, updated_at)
	 SELECT $1, 'crowd-' || i, 'person' || i || '@crowd.example', 'person' || i || '@crowd.example', 'active', '{}', '{}', FALSE, CAST($2 AS bigint) + i, CAST($2 AS bigint) + i FROM n`,
	`INSERT INTO activities (org_id, occurred_at, id, contact_id, name, properties, source, received_at)
	 SELECT $1, CAST($2 AS bigint) + i, 'crowd-' || i || '-' || k, 'crowd-' || i, 'paid', '{"amount": 10}', 'api', CAST($2 AS bigint) + i FROM n CROSS JOIN k WHERE k < 3`,
	`INSERT INTO membership_log (org_id, occurred_at, id, set_kind, set_id, contact_id, entered)
	 SELECT $1, CAST($2 AS bigint) + i, 'crowd-' || i || '-' || k, 'list', 'crowd', 'crowd-' || i, TRUE FROM n CROSS JOIN k WHERE k < 3`,
	`INSERT INTO audit_events (org_id, occurred_at, id, action, actor_kind, actor_id, surface, subject_id, request_id, detail)
	 SELECT $1, CAST($2 AS bigint) + i, 'crowd-' || i || '-' || k, 'contacts_upsert', 'key', 'crowd', 'rest', 'crowd-' || i, '', '{"email": "person' || i || '@crowd.example", "changed": ["city"]}' FROM n CROSS JOIN k WHERE k < 3`,
	`INSERT INTO messages (org_id, id, sender, recipient, identity, sent_at, status, rank, last_event_at, channel, subject, template, test)
	 SELECT $1, 'crowd-' || i || '-' || k, 'shop@example.com', 'person' || i || '@crowd.example', 'example.com', CAST($2 AS bigint) + i, 'Delivery', 2, CAST($2 AS bigint) + i, 'crowd', 'Your order', 'order', FALSE FROM n CROSS JOIN k WHERE k < 3`,
	`INSERT INTO message_recipients (org_id, recipient, sent_at, message_id)
	 SELECT $1, 'person' || i || '@crowd.example', CAST($2 AS bigint) + i, 'crowd-' || i || '-' || k FROM n CROSS JOIN k WHERE k < 3`,
	`INSERT INTO message_events (org_id, occurred_at, id, message_id, type, recipient, recipient_key, channel, identity, template, test, recorded_at)
	 SELECT $1, CAST($2 AS bigint) + i + k, 'crowd-' || i || '-' || k, 'crowd-' || i || '-' || (1 + k % 2), CASE k % 3 WHEN 0 THEN 'Send' WHEN 1 THEN 'Delivery' ELSE 'Open' END,
	        'person' || i || '@crowd.example', 'person' || i || '@crowd.example', 'crowd', 'example.com', 'order', FALSE, CAST($2 AS bigint) + i FROM n CROSS JOIN k`,
}

// BenchmarkErasePerson counts, exports and erases contacts of an organization with a crowd of
// others, on each database. It reports each as a multiple of the time in which the database counts
// the rows of the largest table, message_events.
func BenchmarkErasePerson(b *testing.B) {
	for _, engine := range []string{"sqlite", "postgres"} {
		b.Run(engine, func(b *testing.B) {
			p := product.Start(b, product.Options{Postgres: engine == "postgres"})
			for _, rows := range crowd {
				insertCrowd(b, p, rows)
			}
			known, err := persons.New(privacy.Config{
				Store: p.DB.Privacy(), Account: p.Simulator, Runs: workflows.NewTimerStore(p.DB.DB), Audit: p.DB.Audit(), Transactor: p.DB, Clock: p.Clock.Now, Journal: persons.NewJournal(b.TempDir()),
			}, persons.Erased(p.DB.Privacy(), p.MasterKey), struct{ objects.Stores }{})
			if err != nil {
				b.Fatal(err)
			}
			actor := access.ActorOf(access.Operator)
			steps := []struct {
				name string
				do   func(context.Context, string) error
			}{
				{"scan", func(ctx context.Context, _ string) error {
					return p.DB.Writer().QueryRowContext(ctx, `SELECT count(*) FROM message_events WHERE org_id = $1 AND recipient <> ''`, p.OrgID).Scan(new(int))
				}},
				{"count", func(ctx context.Context, email string) error {
					_, err := known.Count(ctx, p.OrgID, email)
					return err
				}},
				{"export", func(ctx context.Context, email string) error {
					_, err := known.Export(ctx, actor, p.OrgID, email)
					return err
				}},
				{"erase", func(ctx context.Context, email string) error {
					_, err := known.Erase(ctx, actor, p.OrgID, email)
					return err
				}},
			}
			took := map[string]time.Duration{}
			b.ResetTimer()
			for n := range b.N {
				email := fmt.Sprintf("person%d@crowd.example", 1+n*7919%*personsAround)
				for _, s := range steps {
					start := time.Now()
					if err := s.do(b.Context(), email); err != nil {
						b.Fatal(s.name, err)
					}
					took[s.name] += time.Since(start)
				}
			}
			for _, s := range steps[1:] {
				b.ReportMetric(float64(took[s.name].Milliseconds())/float64(b.N), s.name+"-ms")
				b.ReportMetric(took[s.name].Seconds()/took["scan"].Seconds(), s.name+"/scan")
			}
		})
	}
}

// insertCrowd inserts rows of the crowd, on PostgreSQL with statistics afterwards, as a database
// has them after some minutes.
func insertCrowd(b *testing.B, p *product.Product, rows string) {
	b.Helper()
	numbers := fmt.Sprintf(`WITH RECURSIVE n (i) AS (SELECT CAST(1 AS bigint) UNION ALL SELECT i + 1 FROM n WHERE i < %d), k (k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM k WHERE k < 6) `, *personsAround)
	since := p.Clock.Now().Add(-24 * time.Hour).UnixMicro()
	if _, err := p.DB.Writer().ExecContext(b.Context(), numbers+rows, p.OrgID, since); err != nil {
		b.Fatal(err)
	}
	if _, err := p.DB.Writer().ExecContext(b.Context(), "ANALYZE"); err != nil {
		b.Fatal(err)
	}
}
