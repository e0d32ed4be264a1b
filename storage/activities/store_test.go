package activities_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestClaimsThatFailLeaveTheTransactionUsable checks that a failed claim of an idempotency
// key, or of an activity name for a contact, does not abort the transaction. The claims
// fail because the test has renamed their tables. An activity that is inserted after them
// must be stored.
func TestClaimsThatFailLeaveTheTransactionUsable(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		org, now := core.NewID(), time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
		store, act := db.Activities(), anActivity(now)
		// The first transaction prepares all statements, so it must run before the tables are
		// renamed.
		if err := db.InTx(t.Context(), func(context.Context) error { return nil }); err != nil {
			t.Fatal(err)
		}
		for _, table := range []string{"activity_keys", "activity_claims"} {
			if _, err := db.Writer().ExecContext(t.Context(), "ALTER TABLE "+table+" RENAME TO "+table+"_away"); err != nil {
				t.Fatal(err)
			}
		}
		err := db.InTx(t.Context(), func(ctx context.Context) error {
			_, err := store.ClaimKeys(ctx, org, []activities.KeyClaim{{Key: "k", ActivityID: act.ID, ContactID: act.ContactID}}, now, now)
			if !errors.Is(err, activities.ErrClaims) {
				return err // the transaction then runs again
			}
			_, err = store.ClaimOnce(ctx, org, []activities.OnceClaim{{OnceKey: activities.OnceKey{ContactID: act.ContactID, Name: "a"}, ActivityID: act.ID}}, now)
			if !errors.Is(err, activities.ErrClaims) {
				return err
			}
			return store.Insert(ctx, org, []activities.Activity{act})
		})
		if err != nil {
			t.Fatal(err)
		}
		if found, err := store.Activities(t.Context(), org, activities.Filter{Limit: 10}); err != nil || len(found) != 1 {
			t.Errorf("%+v, %v", found, err)
		}
	})
}

// TestClaimsEndWithTheirCaller checks that ClaimOnce returns context.Canceled after its
// context ends. It must not return ErrClaims, after which a caller continues without
// claims.
func TestClaimsEndWithTheirCaller(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, leave := context.WithCancel(t.Context())
		err := db.InTx(ctx, func(ctx context.Context) error {
			leave()
			_, err := db.Activities().ClaimOnce(ctx, core.NewID(), []activities.OnceClaim{{ActivityID: core.NewID()}}, time.Now())
			return err
		})
		if !errors.Is(err, context.Canceled) || errors.Is(err, activities.ErrClaims) {
			t.Error(err)
		}
	})
}

func anActivity(at time.Time) activities.Activity {
	return activities.Activity{
		ID: core.NewID(), ContactID: core.NewID(), Name: "a", OccurredAt: at, ReceivedAt: at,
		Source: activities.FromAPI, Properties: []byte(`{}`),
	}
}

// TestPagesOfActivitiesStartInAnIndex checks that each page of activities is read from an
// index without a sort. The last page then costs as much as the first. The query that
// counts a contact's activities by name must read only the activities of that contact.
func TestPagesOfActivitiesStartInAnIndex(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	starts := map[string]string{
		"activities by time":       "sqlite_autoindex_activities_1 (org_id=? AND occurred_at>? AND (occurred_at,id)<(?,?))",
		"activities by name":       "activities_by_name (org_id=? AND (name,occurred_at)>(?,?) AND (name,occurred_at,id)<(?,?,?))",
		"activities of a contact":  "activities_of_contact (org_id=? AND (contact_id,occurred_at)>(?,?) AND (contact_id,occurred_at,id)<(?,?,?))",
		"summaries of activities":  "activities_of_contact (org_id=? AND contact_id=?)",
		"old activities":           "sqlite_autoindex_activities_1 (org_id=? AND (occurred_at,id)>(?,?) AND occurred_at<?)",
		"activity properties page": "activity_properties_newest (org_id=? AND (created_at,id)<(?,?))",
	}
	for _, s := range engine.Statements() {
		start, ours := starts[s.Name()]
		if !ours {
			continue
		}
		delete(starts, s.Name())
		plan, summary := storagetest.Plan(t, db, s), s.Name() == "summaries of activities"
		if !strings.Contains(plan, start) || strings.Contains(plan, "TEMP B-TREE") != summary {
			t.Errorf("%s: %s", s.Name(), plan)
		}
	}
	if len(starts) > 0 {
		t.Errorf("statements are missing: %v", starts)
	}
}

// TestActivitiesOfManyPeopleOnPostgres checks PostgreSQL query plans for 50,000 activities,
// with custom and generic plans. A page must be read backwards from its index, without a
// sort. The query that counts a contact's activities by name must use the index by contact.
func TestActivitiesOfManyPeopleOnPostgres(t *testing.T) {
	t.Parallel()
	db, org := storagetest.Postgres(t), core.NewID()
	conn, err := db.Writer().Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // its database goes with the test
	exec := func(text string) {
		t.Helper()
		if _, err := conn.ExecContext(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	exec(`INSERT INTO activities (org_id, occurred_at, id, contact_id, name, properties, source, received_at)
		SELECT '` + org + `', n * 1000000::bigint, 'id-' || n, 'contact-' || n % 1000, 'name-' || n % 3, '{}', 'api', n * 1000000::bigint
		FROM generate_series(1, 50000) AS n`)
	// PostgreSQL reads partitions that are known to be empty without an index.
	exec(`DO $$ DECLARE p regclass; BEGIN
		FOR p IN SELECT inhrelid FROM pg_inherits WHERE inhparent = CAST('activities' AS regclass) AND CAST(CAST(inhrelid AS regclass) AS text) NOT LIKE '%before%' LOOP
			EXECUTE 'DROP TABLE ' || p;
		END LOOP;
	END $$`)
	exec(`ANALYZE activities`)
	deep := `-9223372036854775808, 10000000000, '~', 0`
	calls := map[string]struct{ how, arguments string }{
		"activities by time":      {"Backward using activities_pkey", `'` + org + `', ` + deep + `, 51`},
		"activities by name":      {"Backward using activities_by_name", `'` + org + `', 'name-1', ` + deep + `, 51`},
		"activities of a contact": {"Backward using activities_of_contact", `'` + org + `', 'contact-1', ` + deep + `, '', 51`},
		"summaries of activities": {"activities_of_contact", `'` + org + `', 'contact-1', 0, 0`},
	}
	seen := 0
	for _, s := range engine.Statements() {
		call, ours := calls[s.Name()]
		if !ours {
			continue
		}
		seen++
		page := strings.HasPrefix(call.how, "Backward")
		exec(`PREPARE looked AS ` + db.Dialect().Text(s.Text()))
		for _, mode := range []string{"force_generic_plan", "force_custom_plan"} {
			exec(`SET plan_cache_mode = ` + mode)
			plan := storagetest.PostgresPlan(t, conn, `EXECUTE looked(`+call.arguments+`)`)
			if !strings.Contains(plan, call.how) || page && strings.Contains(plan, "Sort") || strings.Contains(plan, "Seq Scan") {
				t.Errorf("%s, %s:\n%s", s.Name(), mode, plan)
			}
		}
		exec(`DEALLOCATE looked`)
	}
	if seen != len(calls) {
		t.Errorf("%d statements of %d", seen, len(calls))
	}
}

// TestBatchLookupsOnPostgres checks that PostgreSQL finds the rows of a batch through an
// index, with custom and generic plans, in tables without statistics. It must not read the
// other rows of the organization.
func TestBatchLookupsOnPostgres(t *testing.T) {
	t.Parallel()
	db, org := storagetest.Postgres(t), core.NewID()
	conn, err := db.Writer().Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // its database goes with the test
	exec := func(text string) {
		t.Helper()
		if _, err := conn.ExecContext(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	exec(`INSERT INTO contacts (org_id, id, email, email_key, external_id, status, attributes, topic_preferences, unsubscribe_all, created_at, updated_at)
		SELECT '` + org + `', 'id-' || n, n || '@example.com', n || '@example.com', 'crm-' || n, 'active', '{}', '{}', FALSE, n, n
		FROM generate_series(1, 5000) AS n`)
	exec(`INSERT INTO activity_keys (org_id, key, activity_id, contact_id, expires_at)
		SELECT '` + org + `', 'key-' || n, 'id-' || n, 'id-' || n, n FROM generate_series(1, 5000) AS n`)
	exec(`INSERT INTO activity_claims (org_id, contact_id, name, activity_id, claimed_at)
		SELECT '` + org + `', 'id-' || n, 'once', 'id-' || n, n FROM generate_series(1, 5000) AS n`)
	exec(`INSERT INTO message_recipients (org_id, recipient, sent_at, message_id)
		SELECT '` + org + `', n || '@example.com', n, 'm-' || n FROM generate_series(1, 5000) AS n`)
	calls := map[string]struct{ index, arguments string }{
		"held activity keys":    {"activity_keys_pkey", `'[{"key":"key-1"},{"key":"key-2"}]', '` + org + `'`},
		"held activity names":   {"activity_claims_pkey", `'[{"contact":"id-1","name":"once"}]', '` + org + `'`},
		"people by email":       {"contacts_org_id_email_key_key", `'["1@example.com", "2@example.com"]', '` + org + `'`},
		"people by external id": {"contacts_org_id_external_id_key", `'["crm-1", "crm-2"]', '` + org + `'`},
		"add stub slots":        {"contacts_pkey", `'[{"id":"id-1"},{"id":"id-2"}]', '` + org + `'`},

		"touch recipients":            {"contacts_org_id_email_key_key", `'[{"id":"note","contact":"1@example.com"}]', '` + org + `'`},
		"misdated message recipients": {"message_recipients_of_message", `'[{"message":"m-1","sent":1}]', '` + org + `'`},
	}
	seen := 0
	for _, s := range engine.Statements() {
		call, ours := calls[s.Name()]
		if !ours {
			continue
		}
		seen++
		exec(`PREPARE looked AS ` + db.Dialect().Text(s.Text()))
		for _, mode := range []string{"force_generic_plan", "force_custom_plan"} {
			exec(`SET plan_cache_mode = ` + mode)
			plan := storagetest.PostgresPlan(t, conn, `EXECUTE looked(`+call.arguments+`)`)
			if !strings.Contains(plan, "Scan using "+call.index) || strings.Contains(plan, "Hash") || strings.Contains(plan, "Seq Scan") {
				t.Errorf("%s, %s:\n%s", s.Name(), mode, plan)
			}
		}
		exec(`DEALLOCATE looked`)
	}
	if seen != len(calls) {
		t.Errorf("%d statements of %d", seen, len(calls))
	}
}
