package serve

import (
	"log/slog"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/outgoing"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/suppression"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestDiagnosisReportsListedAddressesOnly checks which addresses a diagnosis of a message
// reports as undeliverable. It must not report an address that an operator has excluded
// from Mailhelm's list of undeliverable addresses.
func TestDiagnosisReportsListedAddressesOnly(t *testing.T) {
	t.Parallel()
	db, org, at := storagetest.SQLite(t), core.NewID(), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	entry := func(email string, status suppression.Status) suppression.Entry {
		e := suppression.Entry{
			Key: suppression.AddressKey(email), Email: email, Status: status, Reason: suppression.Complaint,
			FirstSeenAt: at, LastSeenAt: at, LastChangedAt: at, EventCount: 1,
		}
		if status == suppression.Excluded {
			e.ExcludedAt, e.ForgivenAt, e.ExclusionReason = &at, &at, "asked"
		}
		return e
	}
	entries := []suppression.Entry{entry("listed@example.com", suppression.Listed), entry("excluded@example.com", suppression.Excluded)}
	if err := db.Suppression().SaveEntries(t.Context(), org, entries); err != nil {
		t.Fatal(err)
	}
	list := outgoing.JudgedList{Judged: newSuppression(db, nil, core.SystemClock, slog.New(slog.DiscardHandler))}
	for email, want := range map[string]*messages.UndeliverableRecipient{
		"Listed@Example.com": {Reason: "complaint", LastSeenAt: at}, "excluded@example.com": nil, "nobody@example.com": nil,
	} {
		got, err := list.Undeliverable(t.Context(), org, email)
		if err != nil || (got == nil) != (want == nil) || want != nil && *got != *want {
			t.Errorf("%s: %+v, %v, want %+v", email, got, err, want)
		}
	}
}
