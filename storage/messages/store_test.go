package messages_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jmoiron/sqlx"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) {
	enginetest.ReduceRandomCases()
	m.Run()
}

var sentAt = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// history returns events of every type for three messages, as a provider reports them. All
// events of a message repeat the same mail data, but some omit parts of it.
func history() []messages.Event {
	types := []messages.EventType{
		messages.Send, messages.Delivery, messages.Bounce, messages.Complaint, messages.Reject, messages.Open,
		messages.Click, messages.DeliveryDelay, messages.RenderingFailure, messages.Subscription,
	}
	var all []messages.Event
	for m := range 3 {
		for i, kind := range types {
			e := messages.Event{
				ID: fmt.Sprintf("e-%d-%d", m, i), MessageID: fmt.Sprintf("m-%d", m), Type: kind,
				OccurredAt: sentAt.Add(time.Duration((i*7)%10) * time.Minute), Recipient: fmt.Sprintf("Person%d@Example.com", i%2),
				Metadata: json.RawMessage(fmt.Sprintf(`{"n":"%d"}`, i)),
				Mail: messages.Mail{
					From: "Shop@Example.com", To: []string{"Person0@Example.com", "Person1@Example.com"},
					SentAt: sentAt.Add(time.Duration(m) * time.Hour), Test: m == 2 && i > 4,
				},
			}
			if kind == messages.Bounce {
				e.Bounced = &messages.BounceKind{Type: messages.PermanentBounce, SubType: "General"}
			}
			if i%3 > 0 {
				e.Mail.Subject, e.Mail.Template, e.Mail.Channel = "Grüße", "welcome", "marketing"
			}
			all = append(all, e)
		}
	}
	return all
}

// rowsOf returns all stored messages, recipients and events of an organization as texts,
// without the times at which they were recorded.
func rowsOf(ctx context.Context, db *storage.DB, orgID string) ([]string, error) {
	var all []string
	for _, query := range []string{
		`SELECT id, sender, recipient, identity, sent_at, status, rank, last_event_at, channel, subject, template, test FROM messages WHERE org_id = $1 ORDER BY id`,
		`SELECT recipient, sent_at, message_id FROM message_recipients WHERE org_id = $1 ORDER BY recipient, sent_at, message_id`,
		`SELECT occurred_at, id, message_id, type, recipient, recipient_key, bounce_type, bounce_sub_type, channel, identity, template, test, metadata FROM message_events WHERE org_id = $1 ORDER BY id`,
	} {
		rows, err := texts(ctx, db, query, orgID)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

// texts returns every result row of a query as one text.
func texts(ctx context.Context, db *storage.DB, query string, args ...any) ([]string, error) {
	rows, err := db.Reader().QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var all []string
	for rows.Next() {
		row, err := sqlx.SliceScan(rows)
		if err != nil {
			return nil, err
		}
		for i, value := range row {
			if raw, ok := value.([]byte); ok {
				row[i] = string(raw)
			}
		}
		all = append(all, fmt.Sprint(row...))
	}
	return all, rows.Err()
}

// record stores batches of events for a new organization. It returns the stored rows as
// texts, and how many events were new.
func record(ctx context.Context, db *storage.DB, batches ...[]messages.Event) ([]string, int, error) {
	orgID, fresh := core.NewID(), 0
	for _, batch := range batches {
		stored, err := db.Messages().RecordEvents(ctx, orgID, batch, sentAt)
		if err != nil {
			return nil, 0, err
		}
		fresh += len(stored)
	}
	rows, err := rowsOf(ctx, db, orgID)
	return rows, fresh, err
}

// TestRecordEventsInAnyOrder checks that the same events give the same rows in any order,
// with any duplicates and in any batches. Each event must be returned as new exactly once.
func TestRecordEventsInAnyOrder(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		want, fresh, err := record(t.Context(), db, history())
		if err != nil || fresh != len(history()) || len(want) != 3+6+30 {
			t.Fatalf("%d rows, %d new, %v", len(want), fresh, err)
		}
		rapid.Check(t, func(r *rapid.T) {
			events := rapid.Permutation(history()).Draw(r, "order")
			events = append(events, rapid.SliceOfN(rapid.SampledFrom(history()), 0, 20).Draw(r, "again")...)
			events = rapid.Permutation(events).Draw(r, "mixed")
			size := rapid.IntRange(1, len(events)).Draw(r, "batch")
			got, fresh, err := record(t.Context(), db, slices.Collect(slices.Chunk(events, size))...)
			if err != nil || fresh != len(history()) {
				r.Fatalf("%d new, %v", fresh, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				r.Fatalf("rows differ (-want +got):\n%s", diff)
			}
		})
	})
}

// TestContradictoryTimesOfSending checks that events that contradict each other about the
// time of sending give the same rows in any order. A search for any recipient of the
// message must find the message.
func TestContradictoryTimesOfSending(t *testing.T) {
	t.Parallel()
	contradicting := make([]messages.Event, 4)
	for i, minutes := range []int{30, 0, 20, 10} {
		contradicting[i] = messages.Event{
			ID: fmt.Sprintf("e-%d", i), MessageID: "m", Type: messages.Delivery, OccurredAt: sentAt.Add(time.Hour),
			Recipient: fmt.Sprintf("person%d@example.com", i%3),
			Mail:      messages.Mail{From: "shop@example.com", SentAt: sentAt.Add(time.Duration(minutes) * time.Minute)},
		}
	}
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		want, _, err := record(t.Context(), db, contradicting)
		if err != nil || len(want) != 1+3+4 {
			t.Fatalf("%d rows, %v", len(want), err)
		}
		rapid.Check(t, func(r *rapid.T) {
			events := rapid.Permutation(contradicting).Draw(r, "order")
			size := rapid.IntRange(1, len(events)).Draw(r, "batch")
			got, _, err := record(t.Context(), db, slices.Collect(slices.Chunk(events, size))...)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				r.Fatalf("%v, rows differ (-want +got):\n%s", err, diff)
			}
		})
		org := core.NewID()
		for _, e := range contradicting {
			if _, err := db.Messages().RecordEvents(t.Context(), org, []messages.Event{e}, sentAt); err != nil {
				t.Fatal(err)
			}
		}
		for _, e := range contradicting {
			f := messages.Filter{Window: core.Window{From: sentAt, To: sentAt.Add(time.Hour)}, Recipient: e.Recipient, Limit: 9}
			found, err := db.Messages().Messages(t.Context(), org, f)
			if err != nil || len(found) != 1 || !found[0].SentAt.Equal(sentAt) {
				t.Errorf("%s: %+v, %v", e.Recipient, found, err)
			}
		}
	})
}

// TestStatusOfEveryTwoEvents checks for every pair of event types that the more significant
// one becomes the status of the message, in either order.
func TestStatusOfEveryTwoEvents(t *testing.T) {
	t.Parallel()
	// order begins with the least significant type. The last type, Subscription, is not a
	// status.
	order := []messages.EventType{
		messages.Send, messages.RenderingFailure, messages.DeliveryDelay, messages.Delivery, messages.Open, messages.Click, messages.Reject,
		messages.Bounce, messages.Complaint, messages.Subscription,
	}
	weight := func(kind messages.EventType) int {
		return slices.Index(order, kind) % 9
	}
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		for _, together := range []bool{true, false} {
			for _, first := range order {
				for _, second := range order {
					org := core.NewID()
					events := []messages.Event{
						{ID: "1", MessageID: "m", Type: first, OccurredAt: sentAt.Add(time.Hour), Mail: messages.Mail{SentAt: sentAt}},
						{ID: "2", MessageID: "m", Type: second, OccurredAt: sentAt, Mail: messages.Mail{SentAt: sentAt}},
					}
					batches := [][]messages.Event{events}
					if !together {
						batches = [][]messages.Event{events[:1], events[1:]}
					}
					for _, batch := range batches {
						if _, err := db.Messages().RecordEvents(t.Context(), org, batch, sentAt); err != nil {
							t.Fatal(err)
						}
					}
					want := order[max(weight(first), weight(second))]
					if m, err := db.Messages().Message(t.Context(), org, "m"); err != nil || m.Status != want {
						t.Errorf("%s and %s: %s, %v; want %s", first, second, m.Status, err, want)
					}
				}
			}
		}
	})
}
