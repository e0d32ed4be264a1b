package storage_test

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/suppression"
	"github.com/mailhelm/mailhelm/storage"
)

// BenchmarkIngest records events like the server does, in transactions of about 500 events.
// Each transaction also updates the report figures and the suppression list, and queues
// contacts for the evaluation of segments. It runs with new events and with events that are
// stored already. One variant does not queue contacts. Another one does not queue them and
// lacks the index message_events_of_recipient, which finds the events of a recipient.
func BenchmarkIngest(b *testing.B) {
	b.Run("product", func(b *testing.B) {
		eachBench(b, func(b *testing.B, db *storage.DB) { ingest(b, db, true) })
	})
	b.Run("no-notes", func(b *testing.B) {
		eachBench(b, func(b *testing.B, db *storage.DB) { ingest(b, db, false) })
	})
	b.Run("no-notes-no-index", func(b *testing.B) {
		eachBench(b, func(b *testing.B, db *storage.DB) {
			if _, err := dropIndexes(b.Context(), db, "message_events_of_recipient"); err != nil {
				b.Fatal(err)
			}
			ingest(b, db, false)
		})
	})
}

const (
	ingestSize  = 200    // messages, of 490 events
	ingestKnown = 20_000 // number of messages whose recipients are stored as contacts
)

func ingest(b *testing.B, db *storage.DB, noted bool) {
	b.Helper()
	orgID, log := core.NewID(), slog.New(slog.DiscardHandler)
	recorders := []messages.Recorder{
		reports.New(reports.Config{Store: db.Reports(), Clock: core.SystemClock}),
		suppression.New(suppression.Config{Store: db.Suppression(), RuleStore: db.SuppressionRules(), Transactor: db, Clock: core.SystemClock, Log: log}),
	}
	if noted {
		recorders = append(recorders, segments.New(segments.Config{Store: db.Segments(), Members: db.SegmentMembers(), Changes: db.SegmentChanges(), Transactor: db, Clock: core.SystemClock, Log: log}))
		fillDivided(b, db, orgID)
	}
	measure := func(name string, batch func(i int) int) {
		b.Run(name, func(b *testing.B) {
			spent, events := processorTime(), 0
			for i := 0; b.Loop(); i++ {
				n := batch(i)
				events += recordMail(b, db, recorders, orgID, n*ingestSize, (n+1)*ingestSize)
			}
			b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
			b.ReportMetric(float64((processorTime()-spent).Microseconds())/float64(events), "own-cpu-µs/event")
		})
	}
	next := 0
	measure("new", func(int) int { next++; return next })
	measure("again", func(i int) int { return 1 + i%next })
}

// fillDivided inserts the recipients of the first ingestKnown messages as contacts. It also
// inserts an active segment of the contacts who opened a message.
func fillDivided(b *testing.B, db *storage.DB, orgID string) {
	b.Helper()
	now := core.SystemClock()
	for from := 0; from < ingestKnown; from += written {
		page := make([]sending.Contact, written)
		for i := range page {
			page[i].Email = benchEvents(from + i)[0].Recipient
		}
		if _, _, err := db.Subscribers().MirrorConsent(b.Context(), orgID, page, now, now); err != nil {
			b.Fatal(err)
		}
	}
	const segment = `INSERT INTO segments (org_id, id, key, name, description, search, source, profile_version, eval_class, status, eval_warning,
			member_count, origin, source_path, created_at, updated_at)
		VALUES ($1, 'readers', 'readers', 'Readers', '', 'readers', 'exists(open)', 1, 'incremental', 'active', '', 0, 'managed', '', 1, 1)`
	if _, err := db.Writer().ExecContext(b.Context(), segment, orgID); err != nil {
		b.Fatal(fmt.Errorf("segment: %w", err))
	}
}
