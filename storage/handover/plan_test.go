package handover_test

import (
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestChangesFindRecipientsByKey checks that statements that change recipients find them by
// the primary key in a new send, whose rows PostgreSQL has no statistics of. By another index
// they would read all recipients of the send for each one.
func TestChangesFindRecipientsByKey(t *testing.T) {
	t.Parallel()
	db, org, send := storagetest.Postgres(t), core.NewID(), core.NewID()
	all := make([]handover.Recipient, 5000)
	for i := range all {
		all[i] = handover.Recipient{Key: core.NewID(), Email: "r@example.com"}
	}
	if err := db.Handover().Add(t.Context(), org, send, all, start); err != nil {
		t.Fatal(err)
	}
	checkPlans(t, db, org, send, all[0].Key)
}

// checkPlans checks the plans of all statements that change recipients.
func checkPlans(t *testing.T, db *storage.DB, org, send, key string) {
	t.Helper()
	found := 0
	for _, s := range engine.Statements() {
		text := db.Dialect().Text(s.Text())
		if !strings.Contains(text, "UPDATE handover_recipients") || !strings.Contains(text, "v ->> 'key'") {
			continue
		}
		found++
		rows := `'[{"org":"` + org + `","send":"` + send + `","key":"` + key + `","attempt":1}]'`
		plan := storagetest.PostgresPlan(t, db.Reader(), strings.NewReplacer("$1", "0", "$2", rows, "$3", "0").Replace(text))
		if !strings.Contains(plan, "Index Scan using handover_recipients_pkey") {
			t.Errorf("%s:\n%s", s.Name(), plan)
		}
	}
	if found == 0 {
		t.Error("no statement was found")
	}
}
