package monitoring_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/monitoring"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var now = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// ago returns a time before now as the databases store it.
func ago(d time.Duration) int64 { return now.Add(-d).UnixMicro() }

// plant inserts a row with these values. The other columns get "", 0 or FALSE, by their
// type, unless they may be NULL. The row has an organization that need not exist.
func plant(t *testing.T, db *storage.DB, table string, values map[string]any) {
	t.Helper()
	query := `SELECT name, lower(type) FROM pragma_table_info('` + table + `') WHERE "notnull" AND dflt_value IS NULL OR pk > 0`
	if db.Dialect() == engine.PostgreSQL {
		query = `SELECT column_name, coalesce(domain_name, data_type) FROM information_schema.columns
			WHERE table_schema = current_schema() AND table_name = '` + table + `' AND is_nullable = 'NO' AND column_default IS NULL`
	}
	rows, err := db.Writer().QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]any{"org_id": "org"}
	for rows.Next() {
		var column, kind string
		if err := rows.Scan(&column, &kind); err != nil {
			t.Fatal(err)
		}
		switch {
		case column == "org_id":
		case column == "id":
			all[column] = core.NewID()
		case strings.Contains(kind, "int"):
			all[column] = 0
		case strings.HasPrefix(kind, "bool"):
			all[column] = false
		default:
			all[column] = ""
		}
	}
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}
	for column, value := range values {
		all[column] = value
	}
	var columns, places []string
	var arguments []any
	for column, value := range all {
		columns, arguments = append(columns, column), append(arguments, value)
		places = append(places, fmt.Sprintf("$%d", len(arguments)))
	}
	text := "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES (" + strings.Join(places, ", ") + ")"
	if _, err := db.Writer().ExecContext(t.Context(), text, arguments...); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// planted are rows that wait in each queue, and rows beside them that do not.
var planted = []struct {
	table  string
	values map[string]any
}{
	{"broadcasts", map[string]any{"id": "b1", "state": "sending", "audience_size": 10, "sent": 3, "failed": 1, "filtered": 2}},
	{"broadcasts", map[string]any{"id": "b2", "state": "sending", "audience_size": 10, "paused": "person"}},
	{"handover_recipients", map[string]any{"send_id": "b1", "recipient": "r1", "state": "pending", "not_before": ago(9 * time.Minute)}},
	{"handover_recipients", map[string]any{"send_id": "b1", "recipient": "r2", "state": "sent", "not_before": ago(time.Hour)}},
	{"broadcasts", map[string]any{"id": "b3", "state": "scheduled", "schedule_at": ago(time.Minute)}},
	{"broadcasts", map[string]any{"id": "b4", "state": "scheduled", "schedule_at": ago(-time.Minute)}},
	{"bulk_jobs", map[string]any{"created_at": ago(2 * time.Minute)}},
	{"bulk_jobs", map[string]any{"created_at": ago(time.Hour), "completed_at": ago(0)}},
	{"contact_uploads", map[string]any{"created_at": ago(3 * time.Minute), "status": "importing"}},
	{"contact_uploads", map[string]any{"created_at": ago(time.Hour), "status": "completed"}},
	{"domainauth_subscriptions", map[string]any{"domain_id": "d", "user_id": "u", "digest_at": ago(5 * time.Minute)}},
	{"domainauth_notices", map[string]any{"due_at": ago(6 * time.Minute)}},
	{"domainauth_domains", map[string]any{"measure_at": ago(7 * time.Minute)}},
	{"domainauth_files", map[string]any{"due_at": ago(8 * time.Minute)}},
	{"domainauth_files", map[string]any{"due_at": ago(-time.Minute)}},
	{"webhook_endpoints", map[string]any{"id": "e1", "enabled": true}},
	{"webhook_endpoints", map[string]any{"id": "e2", "enabled": false}},
	{"webhook_deliveries", map[string]any{"endpoint_id": "e1", "due_at": ago(10 * time.Minute)}},
	{"webhook_deliveries", map[string]any{"endpoint_id": "e1", "due_at": ago(time.Minute)}},
	{"webhook_deliveries", map[string]any{"endpoint_id": "e1", "due_at": ago(-time.Minute)}},
	{"webhook_deliveries", map[string]any{"endpoint_id": "e2", "due_at": ago(time.Hour)}},
	{"handover_recipients", map[string]any{"send_id": "b1", "recipient": "r3", "state": "handing_over", "changed_at": ago(11 * time.Minute)}},
	{"received_mail", map[string]any{"received_at": ago(12 * time.Minute), "due_at": ago(-time.Minute)}},
	{"receiving_domains", map[string]any{
		"id": "d1", "domain": "a.example", "webhook_url": "https://a.example", "check_at": ago(13 * time.Minute), "publish_at": ago(14 * time.Minute),
	}},
	{"receiving_domains", map[string]any{"id": "d2", "domain": "b.example"}},
	{"receiving_deliveries", map[string]any{"domain_id": "d1", "due_at": ago(15 * time.Minute)}},
	{"receiving_deliveries", map[string]any{"domain_id": "d2", "due_at": ago(time.Hour)}},
	{"workflows", map[string]any{"id": "w1", "open": true}},
	{"workflow_entries", map[string]any{"workflow_id": "w1"}},
	{"workflow_entries", map[string]any{"workflow_id": "w1"}},
	{"workflow_runs", map[string]any{"workflow_id": "w1", "wake_at": ago(16 * time.Minute)}},
	{"workflow_runs", map[string]any{"workflow_id": "w1", "wake_at": ago(-time.Minute), "contact_id": "c2"}},
	{"workflow_sends", map[string]any{"id": "s1", "workflow_id": "w1"}},
	{"handover_recipients", map[string]any{"send_id": "s1", "recipient": "r1", "state": "pending", "not_before": ago(17 * time.Minute)}},
	{"handover_recipients", map[string]any{"send_id": "s1", "recipient": "r2", "state": "pending", "not_before": ago(-time.Minute)}},
}

// TestBacklogs checks the number of waiting items and the age of the oldest in every queue,
// before and after items were added.
func TestBacklogs(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		empty, err := db.Monitoring().Backlogs(t.Context(), now)
		if err != nil {
			t.Fatal(err)
		}
		for i, b := range empty {
			if b.Queue != monitoring.Queues()[i] || b.Waiting != 0 || b.Oldest != nil {
				t.Errorf("empty: %+v", b)
			}
		}
		for _, row := range planted {
			plant(t, db, row.table, row.values)
		}
		got, err := db.Monitoring().Backlogs(t.Context(), now)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, b := range got {
			age := "no time"
			if b.Oldest != nil {
				age = now.Sub(*b.Oldest).String()
			}
			if (b.Oldest != nil) != monitoring.HasAge(b.Queue) && b.Waiting > 0 {
				t.Errorf("%s: the age is %s", b.Queue, age)
			}
			lines = append(lines, fmt.Sprintf("%s %d %s", b.Queue, b.Waiting, age))
		}
		want := []string{
			"broadcast_recipients 4 9m0s", "broadcast_starts 1 1m0s", "bulk_writes 1 2m0s", "contact_imports 1 3m0s", "contact_pushes 0 no time",
			"dmarc_digests 1 5m0s", "dmarc_mails 1 6m0s", "dmarc_measurements 1 7m0s", "dmarc_reports 1 8m0s", "event_webhooks 2 10m0s", "handovers 1 11m0s",
			"received_mail 1 12m0s", "receiving_checks 1 13m0s", "receiving_publications 1 14m0s", "receiving_webhooks 1 15m0s",
			"workflow_entries 2 no time", "workflow_messages 1 17m0s", "workflow_timers 1 16m0s",
		}
		if !slices.Equal(lines, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
		}
	})
}

type letter struct{ N int }

func (letter) Kind() string { return "letter" }

// TestJobs checks the counts of jobs and the time since which the oldest is due.
func TestJobs(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		if got, err := db.Monitoring().Jobs(t.Context()); err != nil || len(got) > 0 {
			t.Errorf("without jobs: %v, %v", got, err)
		}
		queue, err := db.NewJobs(engine.JobsConfig{})
		if err != nil {
			t.Fatal(err)
		}
		before := time.Now()
		for n := range 3 {
			if err := queue.Enqueue(context.WithoutCancel(t.Context()), letter{n}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := db.Writer().ExecContext(t.Context(), `UPDATE river_job SET state = 'retryable' WHERE id = (SELECT max(id) FROM river_job)`); err != nil {
			t.Fatal(err)
		}
		got, err := db.Monitoring().Jobs(t.Context())
		if err != nil || len(got) != 2 {
			t.Fatalf("%+v, %v", got, err)
		}
		for i, want := range []monitoring.JobCount{{Kind: "letter", State: "available", Jobs: 2}, {Kind: "letter", State: "retryable", Jobs: 1}} {
			due := got[i].Oldest
			got[i].Oldest = time.Time{}
			if got[i] != want || due.Before(before.Add(-time.Minute)) || due.After(before.Add(time.Minute)) {
				t.Errorf("got %+v, due at %v, enqueued at %v", got[i], due, before.UTC())
			}
		}
	})
}

// TestFailedJobs checks that only jobs count that failed for good since a time.
func TestFailedJobs(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		queue, err := db.NewJobs(engine.JobsConfig{})
		if err != nil {
			t.Fatal(err)
		}
		for n := range 4 {
			if err := queue.Enqueue(t.Context(), letter{n}); err != nil {
				t.Fatal(err)
			}
		}
		for id, failed := range map[int]string{1: "2026-11-29 11:59:59.123", 2: "2026-11-29 12:00:00.123", 3: "2026-11-29 12:30:00"} {
			change := fmt.Sprintf(`UPDATE river_job SET state = 'discarded', finalized_at = '%s+00:00' WHERE id = %d`, failed, id)
			if db.Dialect() == engine.SQLite {
				change = strings.Replace(change, "+00:00", "", 1) // as the job queue stores times
			}
			if _, err := db.Writer().ExecContext(t.Context(), change); err != nil {
				t.Fatal(err)
			}
		}
		got, err := db.Monitoring().FailedJobs(t.Context(), now.In(time.FixedZone("", 3600)))
		if err != nil || len(got) != 1 || got["letter"] != 2 {
			t.Errorf("%v, %v", got, err)
		}
	})
}

// TestSyncs checks that failures are counted by kind, and that the latest success counts.
func TestSyncs(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		for i, row := range []map[string]any{
			{"kind": "contacts", "failure": "", "succeeded_at": ago(time.Hour)},
			{"kind": "contacts", "failure": "refused", "succeeded_at": ago(time.Minute)},
			{"kind": "templates", "failure": "refused"},
		} {
			row["org_id"] = fmt.Sprint("org", i)
			plant(t, db, "sync_results", row)
		}
		got, err := db.Monitoring().Syncs(t.Context())
		if err != nil || len(got) != 2 {
			t.Fatalf("%+v, %v", got, err)
		}
		if c := got[0]; c.Kind != "contacts" || c.Failing != 1 || c.Succeeded == nil || !c.Succeeded.Equal(now.Add(-time.Minute)) {
			t.Errorf("contacts: %+v", c)
		}
		if c := got[1]; c.Kind != "templates" || c.Failing != 1 || c.Succeeded != nil {
			t.Errorf("templates: %+v", c)
		}
	})
}
