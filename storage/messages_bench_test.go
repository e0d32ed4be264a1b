package storage_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/storage"
)

// eventBatch is the events of the n-th batch: half of them begin a message, half
// go on with one.
func eventBatch(n, size int) []messages.Event {
	batch := make([]messages.Event, size)
	for i := range batch {
		m, kind := n*size/2+i/2, messages.Send
		if i%2 == 1 {
			kind = messages.Delivery
		}
		batch[i] = messages.Event{
			ID: fmt.Sprintf("%08x-0000-8000-8000-%012x", m*2654435761%(1<<32), 2*m+i%2), MessageID: fmt.Sprintf("0102019c2a4b6d10-%08x-41aa-4a0b-9d77-%012d-000000", m*2654435761%(1<<32), m),
			Type: kind, OccurredAt: sentAt.Add(time.Duration(m) * time.Millisecond), Recipient: fmt.Sprintf("person%d@example.com", m%50_000),
			Metadata: []byte(`{"processing_time_ms":1200,"smtp_response":"250 2.0.0 OK","reportingMTA":"a8-50.smtp-out.amazonses.com"}`),
			Mail: messages.Mail{
				From: "shop@example.com", To: []string{fmt.Sprintf("person%d@example.com", m%50_000)},
				SentAt: sentAt.Add(time.Duration(m) * time.Millisecond), Subject: "Spring at the harbour", Template: "spring", Channel: "marketing",
			},
		}
	}
	return batch
}

// BenchmarkIngest is events into the database, in batches that are all new and in
// ones that were there already.
func BenchmarkIngest(b *testing.B) {
	const size = 500
	eachBench(b, func(b *testing.B, db *storage.DB) {
		orgID := core.NewID()
		record := func(n int) error {
			_, err := db.Messages().RecordEvents(b.Context(), orgID, eventBatch(n, size), sentAt)
			return err
		}
		measure := func(name string, batch func(i int) int) {
			b.Run(name, func(b *testing.B) {
				i := 0
				for b.Loop() {
					if err := record(batch(i)); err != nil {
						b.Fatal(err)
					}
					i++
				}
				b.ReportMetric(float64(i*size)/b.Elapsed().Seconds(), "events/s")
			})
		}
		next := 0
		measure("new", func(int) int { next++; return next })
		measure("again", func(i int) int { return 1 + i%next })
	})
}
