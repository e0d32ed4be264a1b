package storage_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/suppression"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// ownUndeliverable gives an organization suppression rules, and a complaint event from the
// address gone@x. It stores and returns the suppression entry of this address.
func ownUndeliverable(t *testing.T, db *storage.DB, org string) suppression.Entry {
	t.Helper()
	ctx := t.Context()
	entry := suppression.Entry{
		Key: "gone@x", Email: "gone@x", Status: suppression.Listed, Reason: suppression.Complaint,
		FirstSeenAt: start, LastSeenAt: start, LastChangedAt: start, EventCount: 1,
	}
	must(t, db.SuppressionRules().SetRules(ctx, org, suppression.RulesOf(suppression.Strict), start))
	must(t, db.Suppression().SaveEntries(ctx, org, []suppression.Entry{entry}))
	_, err := db.Messages().RecordEvents(ctx, org, []messages.Event{{
		ID: "e", MessageID: "m", Type: messages.Complaint, OccurredAt: start, Recipient: "gone@x",
		Mail: messages.Mail{From: "us@x", To: []string{"gone@x"}, SentAt: start},
	}}, start)
	must(t, err)
	return entry
}

// undeliverableOf returns, by method name, everything that the suppression stores return
// for the organization.
func undeliverableOf(t *testing.T, db *storage.DB, org string, entry suppression.Entry) map[string]any {
	t.Helper()
	ctx, store := t.Context(), db.Suppression()
	seen := map[string]any{}
	see := func(method string, value any, err error) {
		t.Helper()
		if err == nil && !isNothing(value) {
			seen[method] = value
		}
	}
	rules, err := db.SuppressionRules().Rules(ctx, org)
	see("Rules", rules.Profile == suppression.Strict, err)
	to, err := db.SuppressionRules().JudgedTo(ctx, org)
	see("JudgedTo", to != nil, err)
	adverse, err := store.Adverse(ctx, org, []string{entry.Key}, 10)
	see("Adverse", adverse[entry.Key], err)
	keys, err := store.AdverseKeys(ctx, org, "", 10)
	see("AdverseKeys", keys, err)
	entries, err := store.Entries(ctx, org, []string{entry.Key})
	see("Entries", entries[entry.Key], err)
	byID, err := store.EntryByID(ctx, org, entry.ID())
	see("EntryByID", byID, err)
	last, err := store.LastChange(ctx, org)
	see("LastChange", !last.IsZero(), err)
	page, err := store.EntryPage(ctx, org, suppression.EntryFilter{Limit: 10})
	see("EntryPage", page, err)
	count, err := store.CountEntries(ctx, org, suppression.EntryFilter{})
	see("CountEntries", count, err)
	return seen
}

func TestUndeliverableAddressesBelongToOneOrganization(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		owner, intruder := newOrg(t, db), newOrg(t, db)
		entry := ownUndeliverable(t, db, owner)
		before := undeliverableOf(t, db, owner, entry)
		if len(before) != 9 {
			t.Errorf("the owner sees %v", before)
		}
		if found := undeliverableOf(t, db, intruder, entry); len(found) != 0 {
			t.Errorf("another organization sees %v", found)
		}
		changed := entry
		changed.Status, changed.Email = suppression.Excluded, "stolen@x"
		at, to := later(1), "z"
		changed.ExcludedAt = &at
		must(t, db.Suppression().SaveEntries(t.Context(), intruder, []suppression.Entry{changed}))
		must(t, db.SuppressionRules().SetRules(t.Context(), intruder, suppression.RulesOf(suppression.Aggressive), at))
		must(t, db.SuppressionRules().SetJudgedTo(t.Context(), intruder, &to))
		if diff := cmp.Diff(before, undeliverableOf(t, db, owner, entry)); diff != "" {
			t.Errorf("another organization's writes changed the owner's:\n%s", diff)
		}
		if _, err := db.SuppressionRules().HoldRules(t.Context(), owner); err == nil {
			t.Error("rules were held outside a transaction")
		}
	})
}
