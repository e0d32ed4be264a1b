package reports_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/schema"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// sentFrom is the time at which the first message of the test is sent.
var sentFrom = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// earlierSchema is SQL that undoes migration 26 (by_sending) and puts wrong figures into
// the reports.
const earlierSchema = `
	UPDATE messages SET status = 'Send', rank = 0 WHERE status = 'RenderingFailure';
	UPDATE messages SET rank = rank - 1 WHERE rank > 0;
	DELETE FROM message_kinds WHERE status = 'RenderingFailure';
	UPDATE orgs SET retention_days = 77;
	UPDATE report_days SET sent = sent + 3, day = day + 1;
	UPDATE report_bounce_domains SET bounced = bounced + 3;
	DELETE FROM report_hours;
	DELETE FROM report_marks;
	INSERT INTO report_marks (org_id, mark) VALUES ('nobody', '20260301digest');
	ALTER TABLE report_hours DROP COLUMN opens;
	ALTER TABLE report_hours DROP COLUMN unique_opens;
	ALTER TABLE report_hours DROP COLUMN clicks;
	ALTER TABLE report_hours DROP COLUMN unique_clicks;
	CREATE INDEX message_events_engaged ON message_events (org_id, occurred_at) WHERE type IN ('Open', 'Click') AND NOT test;`

// migrated has queries that select, in a fixed order, every row that the migration under
// test writes.
var migrated = []string{
	`SELECT id || status || CAST(rank AS text) FROM messages ORDER BY 1`,
	`SELECT channel || identity || template || status FROM message_kinds ORDER BY 1`,
	`SELECT org_id || ' ' || mark FROM report_marks ORDER BY 1`,
	`SELECT CAST(day AS text) || domain || CAST(bounced AS text) FROM report_bounce_domains ORDER BY 1`,
	figuresOf("report_days", "day"), figuresOf("report_hours", "hour"),
	`SELECT tier || ' ' || CAST(retention_days AS text) FROM orgs ORDER BY 1`,
}

func figuresOf(table, from string) string {
	return `SELECT ` + from + ` || ' ' || channel || ' ' || identity || ' ' || template || ' ' || sent || ' ' || delivered || ' ' || bounced || ' ' ||
		complained || ' ' || suppressed || ' ' || opens || ' ' || unique_opens || ' ' || clicks || ' ' || unique_clicks FROM ` + table + ` ORDER BY 1`
}

// TestFiguresAreCountedAnewByTheMomentOfSending checks that migration 26 computes the same
// report figures in SQL as package core/reports computes in Go when the events are
// recorded.
func TestFiguresAreCountedAnewByTheMomentOfSending(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		orgs := []string{core.NewID(), core.NewID()}
		for i, tier := range []string{"free", "team", "business", "admin", "sponsored", "demo"} {
			org := core.Org{ID: core.NewID(), Name: tier, Slug: fmt.Sprint("org-", i), Tier: tier, RetentionDays: core.RetentionOf(tier)}
			if err := db.Orgs().InsertOrg(t.Context(), org); err != nil {
				t.Fatal(err)
			}
		}
		figures := reports.New(reports.Config{Store: db.Reports(), Clock: core.SystemClock})
		record := func(org string, events []messages.Event) {
			t.Helper()
			err := db.InTx(t.Context(), func(ctx context.Context) error {
				fresh, err := db.Messages().RecordEvents(ctx, org, events, sentFrom)
				if err != nil {
					return err
				}
				return figures.ObserveEvents(ctx, org, fresh)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, org := range orgs {
			record(org, coursesAcrossDays())
		}
		want := migratedRows(t, db)
		for _, text := range []string{earlierSchema, migrationNamed(t, "by_sending")} {
			if _, err := db.Writer().ExecContext(t.Context(), db.Dialect().Text(text)); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, migratedRows(t, db)); diff != "" {
			t.Errorf("before and after (-want +got):\n%s", diff)
		}
		// A second open of a message, recorded after the migration, must not count as unique,
		// because the first open was before the migration.
		again := coursesAcrossDays()[5:6]
		if again[0].Type != messages.Open {
			t.Fatalf("%+v", again)
		}
		again[0].ID, again[0].OccurredAt = "again", sentFrom.Add(200*time.Hour)
		record(orgs[0], again)
		if marks := strings.Count(fmt.Sprint(migratedRows(t, db)[2]), orgs[0]); marks != strings.Count(fmt.Sprint(want[2]), orgs[0]) {
			t.Errorf("%d marks after an open that came before", marks)
		}
	})
}

// coursesAcrossDays returns events of six messages, with every event type. Each event is 9
// hours after the previous one, so most events are on a later day than the sending of their
// message.
func coursesAcrossDays() []messages.Event {
	var all []messages.Event
	for m := range 6 {
		sent := sentFrom.Add(time.Duration(m) * 11 * time.Hour)
		for i, kind := range []messages.EventType{
			messages.Send, messages.DeliveryDelay, messages.Delivery, messages.Bounce, messages.Complaint, messages.Open, messages.Open, messages.Click,
			messages.Reject, messages.RenderingFailure, messages.Subscription,
		} {
			if m == 5 && kind != messages.Send && kind != messages.RenderingFailure {
				continue // the last message has only the events Send and RenderingFailure
			}
			e := messages.Event{
				ID: fmt.Sprintf("%d-%d", m, i), MessageID: fmt.Sprint("m", m), Type: kind, OccurredAt: sent.Add(time.Duration(i) * 9 * time.Hour),
				Recipient: []string{"Ann@Example.com", "jürgen@münchen.example", ""}[m%3],
				Mail: messages.Mail{
					From: "me@Shop.example", SentAt: sent, Channel: fmt.Sprint("channel", m%2), Template: []string{"", "Größe"}[m%2], Test: m == 4,
				},
			}
			switch {
			case kind == messages.Bounce && m == 3:
				e.Bounced = &messages.BounceKind{Type: messages.PermanentBounce, SubType: messages.OnAccountList}
			case kind == messages.Bounce:
				e.Bounced = &messages.BounceKind{Type: messages.PermanentBounce, SubType: "General"}
			case kind == messages.Complaint && m == 2:
				e.ComplaintSubType = messages.OnAccountList
			}
			all = append(all, e)
		}
	}
	return all
}

func migratedRows(t *testing.T, db *storage.DB) [][]string {
	t.Helper()
	all := make([][]string, len(migrated))
	for i, query := range migrated {
		rows, err := db.Reader().QueryContext(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var row string
			if err := rows.Scan(&row); err != nil {
				t.Fatal(err)
			}
			all[i] = append(all[i], row)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		if len(all[i]) == 0 {
			t.Errorf("%s finds nothing", query)
		}
	}
	return all
}

func migrationNamed(t *testing.T, name string) string {
	t.Helper()
	steps, err := schema.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range steps {
		if step.Name == name {
			return step.SQL
		}
	}
	t.Fatalf("there is no migration %s", name)
	return ""
}
