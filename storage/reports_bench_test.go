package storage_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/storage"
)

// The benchmark data has a million messages in 30 days, over 5 channels and 40 templates.
// Every message is sent and delivered or bounced. One of fifty bounces, a third is opened,
// and a tenth is clicked.
const (
	benchMessages = 1_000_000
	benchDays     = 30
	benchBatch    = 10_000
)

var benchEnd = time.Date(2026, 3, 31, 17, 20, 0, 0, time.UTC)

// benchEvents returns all events of the n-th benchmark message, such as its sending,
// delivery and opens.
func benchEvents(n int) []messages.Event {
	const apart = benchDays * 24 * time.Hour / benchMessages
	at := benchEnd.Add(-benchDays * 24 * time.Hour).Add(time.Duration(n) * apart)
	id := fmt.Sprintf("0100018f%08x-7c2d4e6a-1111-2222-3333-%012d-000000", n, n)
	kinds := []messages.EventType{messages.Send, messages.Delivery}
	switch {
	case n%50 == 1:
		kinds[1] = messages.Bounce
	case n%3 == 0:
		kinds = append(kinds, messages.Open)
	}
	if n%10 == 0 {
		kinds = append(kinds, messages.Click)
	}
	events := make([]messages.Event, len(kinds))
	for i, kind := range kinds {
		events[i] = messages.Event{
			ID: fmt.Sprintf("%024x%08x", n, i), MessageID: id, Type: kind, OccurredAt: at.Add(time.Duration(i) * time.Second),
			Recipient: fmt.Sprintf("person%07d@mailbox%d.example", n, n%500),
			Mail: messages.Mail{
				From: "hello@shop.example", SentAt: at, Subject: "Your order",
				Channel: fmt.Sprintf("channel-%d", n%5), Template: fmt.Sprintf("template-%d", n%40),
			},
		}
		if kind == messages.Bounce {
			events[i].Bounced = &messages.BounceKind{Type: messages.PermanentBounce, SubType: "General"}
		}
	}
	return events
}

// recordMail records the events of the benchmark messages with the numbers from to to-1,
// and passes them to the recorders, such as the reports. It returns the number of events.
func recordMail(b *testing.B, db *storage.DB, recorders []messages.Recorder, orgID string, from, to int) int {
	b.Helper()
	var events []messages.Event
	for n := from; n < to; n++ {
		events = append(events, benchEvents(n)...)
	}
	err := db.InTx(b.Context(), func(ctx context.Context) error {
		fresh, err := db.Messages().RecordEvents(ctx, orgID, events, benchEnd)
		for _, r := range recorders {
			if err == nil {
				err = r.ObserveEvents(ctx, orgID, fresh)
			}
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return len(events)
}

// BenchmarkReport runs every report operation over 30 days with a million messages. The
// time window starts at six o'clock instead of midnight, so one day is only partly in it.
// It runs only if selected by name, because inserting the messages takes minutes: -bench
// 'Report$' -benchtime 21x -timeout 1h.
func BenchmarkReport(b *testing.B) {
	eachBench(b, func(b *testing.B, db *storage.DB) {
		org := core.Org{ID: core.NewID(), RetentionDays: 90}
		figures := reports.New(reports.Config{Store: db.Reports(), Clock: core.SystemClock})
		started, recorded := time.Now(), 0
		for n := 0; n < benchMessages; n += benchBatch {
			recorded += recordMail(b, db, []messages.Recorder{figures}, org.ID, n, n+benchBatch)
		}
		b.Logf("%d events recorded, %.0f a second", recorded, float64(recorded)/time.Since(started).Seconds())
		b.ResetTimer()
		for _, op := range figures.Operations() {
			b.Run(op.Info().Name, func(b *testing.B) {
				c := &core.Call{Principal: core.Principal{Org: org}, Surface: core.REST, Now: benchEnd}
				in, err := op.Decode(core.REST, []byte(`{"from":"2026-03-02T06:00:00Z"}`))
				if err != nil {
					b.Fatal(err)
				}
				measureMiddle(b, func() error { _, err := op.Do(b.Context(), c, in); return err })
			})
		}
	})
}

// measureMiddle calls the function round until the benchmark ends. It reports the median
// duration and the processor time of a call.
func measureMiddle(b *testing.B, round func() error) {
	var took []time.Duration
	spent := processorTime()
	for b.Loop() {
		started := time.Now()
		if err := round(); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(started))
	}
	b.ReportMetric(float64((processorTime()-spent).Microseconds())/1000/float64(len(took)), "own-cpu-ms/op")
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
}
