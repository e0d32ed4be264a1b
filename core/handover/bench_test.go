package handover_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// everyone is a send that filters nobody.
type everyone struct{ mailing }

func (everyone) Filter(context.Context, string, []handover.Recipient) (map[string]handover.Tier, error) {
	return nil, nil
}

func (everyone) Message(_ context.Context, _ string, r handover.Recipient) (sending.Message, error) {
	return sending.Message{To: []string{r.Email}}, nil
}

// BenchmarkSend hands over 20,000 recipients with four workers to an account that accepts
// everything at once. It shows what the records of recipients cost: the metric is recipients
// a second.
func BenchmarkSend(b *testing.B) {
	for name, open := range map[string]func(testing.TB) *storage.DB{"sqlite": storagetest.SQLite, "postgres": storagetest.Postgres} {
		b.Run(name, func(b *testing.B) {
			const recipients = 20_000
			db, org := open(b), core.NewID()
			h := handover.New(handover.Config{
				Store: db.Handover(), Limits: db.HandoverLimits(), Transactor: db, Account: &accepting{}, Process: "process", Rate: unlimited, Wait: noWait,
				Clock: core.SystemClock, Log: slog.New(slog.DiscardHandler),
			})
			var took time.Duration
			for b.Loop() {
				send := core.NewID()
				all := make([]handover.Recipient, recipients)
				for i := range all {
					all[i] = handover.Recipient{Key: core.NewID(), Email: "r@example.com"}
				}
				if err := db.Handover().Add(b.Context(), org, send, all, start); err != nil {
					b.Fatal(err)
				}
				began := time.Now()
				handOverAll(b, h, org, send)
				took += time.Since(began)
			}
			b.ReportMetric(float64(recipients*b.N)/took.Seconds(), "recipients/s")
		})
	}
}

// handOverAll lets four workers take steps until no recipient is left.
func handOverAll(b *testing.B, h *handover.Handover, org, send string) {
	b.Helper()
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			for {
				done, err := h.Step(b.Context(), org, send, everyone{})
				if err != nil {
					b.Error(err)
				}
				if done.Claimed == 0 {
					return
				}
			}
		})
	}
	running.Wait()
}
