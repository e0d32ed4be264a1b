package inboxes_test

import (
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestDeliveriesReadKeys checks that the statements for the messages of a group find inboxes and
// messages by their keys. On PostgreSQL the tables have many rows of one organization, and no
// statistics.
func TestDeliveriesReadKeys(t *testing.T) {
	t.Parallel()
	sqlite, postgres, org := storagetest.SQLite(t), storagetest.Postgres(t), core.NewID()
	for _, text := range []string{
		`INSERT INTO inboxes (org_id, id, local_part, owner, caller, account_ref, label, visibility, allowed_senders, restriction, token_id,
			message_count, dropped_count, created_at, expires_at, ends_at)
		SELECT '` + org + `', 'inbox-' || n, n, 'o', 'c', '', '', 'org', '[]', '', 't', 0, 0, n, n, n FROM generate_series(1, 5000) AS n`,
		`INSERT INTO inbox_messages (org_id, inbox_id, seq, message_id, recipients, message, extracted, bytes)
		SELECT '` + org + `', 'inbox-1', n, 'm-' || n, '[]', '{}', '{}', 2 FROM generate_series(1, 5000) AS n`,
	} {
		if _, err := postgres.Writer().ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	rows := `'[{"org":"` + org + `","inbox":"inbox-1","message":"m-1","accepted":1,"dropped":0}]'`
	wants := map[string][2]string{
		"hold inboxes":              {"SEARCH i USING INDEX sqlite_autoindex_inboxes_2 (org_id=? AND id=?)", "Index Scan using inboxes_pkey"},
		"count messages of inboxes": {"SEARCH inboxes USING INDEX sqlite_autoindex_inboxes_2 (org_id=? AND id=?)", "Index Scan using inboxes_pkey"},
		"messages of inboxes by id": {
			"SEARCH m USING COVERING INDEX sqlite_autoindex_inbox_messages_2 (org_id=? AND inbox_id=? AND message_id=?)",
			"using inbox_messages_org_id_inbox_id_message_id_key",
		},
	}
	seen := 0
	for _, s := range engine.Statements() {
		want, ours := wants[s.Name()]
		if !ours {
			continue
		}
		seen++
		if plan := storagetest.Plan(t, sqlite, s); !strings.Contains(plan, want[0]) {
			t.Errorf("%s on SQLite:\n%s", s.Name(), plan)
		}
		text := strings.NewReplacer("$1", rows, "$2", "1").Replace(postgres.Dialect().Text(s.Text()))
		plan := storagetest.PostgresPlan(t, postgres.Reader(), text)
		if !strings.Contains(plan, want[1]) || strings.Contains(plan, "Seq Scan") {
			t.Errorf("%s on PostgreSQL:\n%s", s.Name(), plan)
		}
	}
	if seen != len(wants) {
		t.Errorf("%d statements of %d", seen, len(wants))
	}
}
