package storage_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/storage"
)

// BenchmarkSubjects reads 200 of 20,000 contacts for the evaluation of predicates in memory.
// Each contact has five events: three purchases, an open and a click.
func BenchmarkSubjects(b *testing.B) {
	const read = 200
	eachBench(b, func(b *testing.B, db *storage.DB) {
		orgID := core.NewID()
		if err := fillSubjects(b.Context(), db, orgID); err != nil {
			b.Fatal(err)
		}
		schema := segments.Schema{Slots: map[string]string{"plan": "s1", "mrr": "n1"}, Schema: predicate.Schema{
			Attributes: map[string]predicate.AttributeType{"plan": {Type: predicate.String}, "mrr": {Type: predicate.Number}, "timezone": {Type: predicate.String}},
			Properties: map[predicate.ActivityProperty]predicate.Type{{Activity: "bought", Property: "amount"}: predicate.Number},
		}}
		q := segments.SubjectQuery{OrgID: orgID, Schema: schema}
		for i := range read {
			q.Contacts = append(q.Contacts, fmt.Sprintf("0190a000-0000-7000-8000-%012d", 1+i*97))
		}
		for _, c := range []struct {
			name, source string
			events       int
		}{
			{"attributes", `attr.plan = "pro" and attr.timezone = "UTC"`, 0},
			{"activities", `attr.plan = "pro" and sum(amount of activity.bought within 30d) > 1`, 3},
			{"messages", `attr.plan = "pro" and exists(open within 30d) and not exists(click within 30d)`, 2},
			{"everything", `attr.plan = "pro" and sum(amount of activity.bought) > 1 and exists(open) and not exists(click)`, 5},
		} {
			checked, err := predicate.Compile(c.source, schema.Schema)
			if err != nil {
				b.Fatal(err)
			}
			q.Refs = checked.References()
			run(b, c.name, func(int) error {
				subjects, err := db.Subjects().Subjects(b.Context(), q)
				if events := len(subjects[q.Contacts[7]].Events); err == nil && (len(subjects) != read || events != c.events) {
					return fmt.Errorf("%d contacts, %d events", len(subjects), events)
				}
				return err
			})
		}
	})
}

// fillSubjects inserts the contacts of BenchmarkSubjects and their events.
func fillSubjects(ctx context.Context, db *storage.DB, orgID string) error {
	if err := fillBench(ctx, db, orgID, benchContacts); err != nil {
		return err
	}
	var texts []string
	for k := range 3 {
		texts = append(texts, fmt.Sprintf(`INSERT INTO activities (org_id, occurred_at, id, contact_id, name, properties, source, received_at)
			SELECT CAST($1 AS text), %d + i.n, 'bought%d-' || i.n, `+predicateID+`, 'bought', '{"amount":12.5,"sku":"A-1","coupon":"none"}', 'api', 1 FROM i`, k, k))
	}
	texts = append(texts, `INSERT INTO messages (org_id, id, sender, recipient, identity, sent_at, status, rank, last_event_at, channel, subject, template, test)
		SELECT CAST($1 AS text), 'm' || i.n, 'a@b.example', 'c' || i.n || '@example.com', 'b.example', i.n, 'Open', 1, i.n, '', 'A subject', 'welcome', FALSE FROM i`)
	for _, kind := range []string{"Open", "Click"} {
		texts = append(texts, `INSERT INTO message_events (org_id, occurred_at, id, message_id, type, recipient, recipient_key, channel, identity, template, test, metadata, recorded_at)
			SELECT CAST($1 AS text), i.n, '`+kind+`' || i.n, 'm' || i.n, '`+kind+`', 'c' || i.n || '@example.com', 'c' || i.n || '@example.com', '', 'b.example', 'welcome', FALSE,
			'{"click_url":"https://b.example/"}', 1 FROM i`)
	}
	for _, text := range texts {
		text = fmt.Sprintf(`WITH RECURSIVE i (n) AS (SELECT 1 UNION ALL SELECT i.n + 1 FROM i WHERE i.n < %d) `, benchContacts) + text
		if _, err := db.Writer().ExecContext(ctx, text, orgID); err != nil {
			return err
		}
	}
	if db.Engine() == "postgres" { // as autovacuum would
		_, err := db.Writer().ExecContext(ctx, `VACUUM ANALYZE`)
		return err
	}
	return nil
}
