package simulator_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

// TestFileOfVersionOneIsBroughtUpToDate checks that a file of the first release, with an
// account and a contact, is migrated when it is opened.
func TestFileOfVersionOneIsBroughtUpToDate(t *testing.T) {
	t.Parallel()
	schema, err := os.ReadFile("schema.sql")
	must(t, err)
	path := filepath.Join(t.TempDir(), "account.db")
	db, err := sql.Open("sqlite", path)
	must(t, err)
	_, err = db.ExecContext(t.Context(), string(schema)+`
		PRAGMA application_id = 1296593761; PRAGMA user_version = 1;
		INSERT INTO accounts VALUES ('org', '123456789012', 'eu-west-1', 1, 1, 200, 1, 7);
		INSERT INTO identities VALUES ('org', 'example.com', 'Example.com', 'success');
		INSERT INTO contact_lists VALUES ('org', 'people', '', 0);
		INSERT INTO contacts (org_id, email_key, email, unsubscribe_all, preferences, updated_at)
		VALUES ('org', 'ann@example.com', 'Ann@example.com', 1, '', 5)`)
	must(t, err)
	must(t, db.Close())

	for range 2 { // the second time, the file is already migrated
		s := open(t, path, simulator.Options{})
		got, err := s.Overview(t.Context(), "org")
		must(t, err)
		want := sending.Overview{
			AccountID: "123456789012", Region: "eu-west-1", Sandbox: true, SendingEnabled: true,
			Max24HourSend: 200, MaxSendRate: 1, SentLast24Hours: 7,
		}
		if got != want {
			t.Errorf("the old account is %+v, want %+v", got, want)
		}
		if c, err := s.Contact(t.Context(), "org", "ann@example.com"); err != nil || !c.UnsubscribeAll {
			t.Errorf("the old contact is %+v, %v", c, err)
		}
		if all, err := s.Identities(t.Context(), "org"); err != nil || len(all) != 1 || all[0].Identity != "Example.com" || all[0].ConfigurationSet != "" {
			t.Errorf("the old identities are %+v, %v", all, err)
		}
		must(t, s.PutTemplate(t.Context(), "org", sending.Template{Name: "hello", Subject: "Hello"}))
	}
}

// TestFileOfVersionTwoIsBroughtUpToDate checks that a file of version 2, in which
// identities have no default configuration set, is migrated when it is opened.
func TestFileOfVersionTwoIsBroughtUpToDate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "account.db")
	db, err := sql.Open("sqlite", path)
	must(t, err)
	for _, file := range []string{"schema.sql", "schema_2.sql"} {
		schema, err := os.ReadFile(file)
		must(t, err)
		_, err = db.ExecContext(t.Context(), string(schema))
		must(t, err)
	}
	_, err = db.ExecContext(t.Context(), `
		PRAGMA application_id = 1296593761; PRAGMA user_version = 2;
		INSERT INTO accounts (org_id, account_id, region, sandbox, sending_enabled, max_24_hour_send, max_send_rate, sent_last_24_hours)
		VALUES ('org', '123456789012', 'eu-west-1', 1, 1, 200, 1, 7);
		INSERT INTO identities VALUES ('org', 'example.com', 'example.com', 'success')`)
	must(t, err)
	must(t, db.Close())
	for _, set := range []string{"", "marketing"} {
		s := open(t, path, simulator.Options{})
		all, err := s.Identities(t.Context(), "org")
		if err != nil || len(all) != 1 || all[0].ConfigurationSet != set || all[0].Verification != sending.Success {
			t.Errorf("the identities are %+v, %v, want the set %q", all, err, set)
		}
		must(t, s.Seed(t.Context(), "org", simulator.Setup{Identities: []sending.Identity{
			{Identity: "example.com", Verification: sending.Success, ConfigurationSet: "marketing"},
		}}))
	}
}
