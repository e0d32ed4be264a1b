package storage_test

import (
	"log/slog"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/core/suppression"
	"github.com/mailhelm/mailhelm/storage"
)

// BenchmarkIngest is events into the database with all that follows from them, as
// the product does it: in transactions of about 500, with figures and with judged
// addresses. Some are all new and some were there already.
func BenchmarkIngest(b *testing.B) {
	const size = 200 // messages, of 490 events
	eachBench(b, func(b *testing.B, db *storage.DB) {
		orgID := core.NewID()
		recorders := []messages.Recorder{
			reports.New(reports.Config{Store: db.Reports(), Clock: core.SystemClock}),
			suppression.New(suppression.Config{Store: db.Suppression(), Transactor: db, Clock: core.SystemClock, Log: slog.New(slog.DiscardHandler)}),
		}
		measure := func(name string, batch func(i int) int) {
			b.Run(name, func(b *testing.B) {
				spent, events := processorTime(), 0
				for i := 0; b.Loop(); i++ {
					n := batch(i)
					events += recordMail(b, db, recorders, orgID, n*size, (n+1)*size)
				}
				b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
				b.ReportMetric(float64((processorTime()-spent).Microseconds())/float64(events), "own-cpu-µs/event")
			})
		}
		next := 0
		measure("new", func(int) int { next++; return next })
		measure("again", func(i int) int { return 1 + i%next })
	})
}
