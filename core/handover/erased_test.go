package handover_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestErasedAddressesGetNoMail hands over a send in which the address of one recipient belongs to
// an erased person.
func TestErasedAddressesGetNoMail(t *testing.T) {
	t.Parallel()
	storagetest.Once(t, func(t *testing.T, db *storage.DB) {
		org, send, now := core.NewID(), core.NewID(), &clock{now: start}
		accepting := &account{random: rand.New(rand.NewPCG(1, 2)), mails: map[string]int{}}
		recipients := []handover.Recipient{{Key: "r3", Email: "kept@example.com"}, {Key: "r4", Email: "Erased@example.com"}, {Key: "r7", Email: "topic@example.com"}}
		if err := db.Handover().Add(t.Context(), org, send, recipients, start); err != nil {
			t.Fatal(err)
		}
		h := handover.New(handover.Config{
			Store: db.Handover(), Limits: db.HandoverLimits(), Transactor: db, Account: accepting,
			Process: "process", Rate: unlimited, Wait: noWait, Clock: now.Now, Log: slog.New(slog.DiscardHandler),
			ErasedAddresses: func(_ context.Context, orgID string, emails []string) (map[string]bool, error) {
				if orgID != org || len(emails) != 3 {
					t.Errorf("asked about %q of %s", emails, orgID)
				}
				return map[string]bool{"Erased@example.com": true}, nil
			},
		})
		done, err := h.Step(t.Context(), org, send, mailing{})
		if err != nil || done.Filtered != 2 || done.Claimed != 1 || accepting.mails["r4"] != 0 {
			t.Errorf("%+v, %v; the account got %v", done, err, accepting.mails)
		}
		for key, want := range map[string]handover.Tier{"r4": handover.ByAccount, "r7": handover.ByTopic} {
			r, err := db.Handover().Recipient(t.Context(), org, send, key)
			if err != nil || r.State != handover.Filtered || r.Tier != want {
				t.Errorf("%s is %+v, %v", key, r, err)
			}
		}
	})
}
