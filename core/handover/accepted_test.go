package handover_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestAcceptedMessagesAreReported checks that Accepted gets each message that the account
// accepted with an answer, once and before its outcome is stored, and no other.
func TestAcceptedMessagesAreReported(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		org, send, now, reported := core.NewID(), core.NewID(), &clock{now: start}, map[string]string{}
		addRecipients(t, db, org, send, 120)
		h := handover.New(handover.Config{
			Store: db.Handover(), Limits: db.HandoverLimits(), Transactor: db, Account: &account{random: rand.New(rand.NewPCG(1, 2)), mails: map[string]int{}},
			Process: "process", Rate: unlimited, Wait: noWait, Clock: now.Now, Log: slog.New(slog.DiscardHandler),
			Accepted: func(ctx context.Context, orgID string, sent []handover.SentMessage) {
				for _, m := range sent {
					key := m.Message.Tags[core.RecipientTag]
					r, err := db.Handover().Recipient(ctx, orgID, m.Message.Tags[core.SendTag], key)
					if err != nil || r.State != handover.HandingOver || !m.At.Equal(now.Now()) {
						t.Errorf("%s is reported at %v as %+v, %v", key, m.At, r, err)
					}
					if m.Message.Content.HTML != "" || m.Message.Content.Text != "" || reported[key] != "" {
						t.Errorf("%s is reported twice or with a body: %+v", key, m.Message)
					}
					reported[key] = m.ID
				}
			},
		})
		for range 20 {
			if _, err := h.Step(t.Context(), org, send, mailing{}); err != nil {
				t.Fatal(err)
			}
			now.advance(time.Minute)
		}
		sent, err := db.Outcomes().Outcomes(t.Context(), org, send, handover.OutcomeFilter{State: handover.Sent, Limit: 200})
		if err != nil || len(sent) == 0 || len(sent) != len(reported) {
			t.Errorf("%d sent, %v, and %d reported", len(sent), err, len(reported))
		}
		for _, r := range sent {
			if reported[r.Key] != r.MessageID {
				t.Errorf("%s is reported as %q, want %q", r.Key, reported[r.Key], r.MessageID)
			}
		}
	})
}
