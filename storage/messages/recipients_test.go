package messages_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// eventTo returns an event of message m to a person, about the time of sending at.
func eventTo(id, m, person string, at time.Time) messages.Event {
	return messages.Event{
		ID: id, MessageID: m, Type: messages.Delivery, OccurredAt: sentAt, Recipient: person,
		Mail: messages.Mail{From: "shop@example.com", SentAt: at},
	}
}

// TestRecipientsThatMoveBetweenPartitionsAreThereOnce records events that contradict each other
// about the month in which messages were sent, from several connections at once. Each recipient
// of a message must be there once, in the month of its message.
func TestRecipientsThatMoveBetweenPartitionsAreThereOnce(t *testing.T) {
	t.Parallel()
	db, org := storagetest.Postgres(t), core.NewID()
	const writers, rounds, mails, people = 4, 6, 3, 3
	start := db.Now().UTC()
	failed := make(chan error, writers)
	var running sync.WaitGroup
	for w := range writers {
		running.Go(func() {
			for r := range rounds {
				var batch []messages.Event
				for m := range mails {
					// The last round has the earliest month: that of the first partition, the next one,
					// and one of the default partition.
					at := start.AddDate(0, rounds-1-r+m, 0)
					batch = append(batch, eventTo(fmt.Sprint(w, r, m), fmt.Sprint("m-", m), fmt.Sprint("person", (w+r)%people, "@example.com"), at))
				}
				if _, err := db.Messages().RecordEvents(t.Context(), org, batch, sentAt); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	running.Wait()
	close(failed)
	for err := range failed {
		t.Fatal(err)
	}
	for query, want := range map[string]int{
		`SELECT count(*) FROM message_recipients WHERE org_id = $1`: mails * people,
		`SELECT count(*) FROM messages AS m JOIN message_recipients AS r ON r.org_id = m.org_id AND r.message_id = m.id AND r.sent_at = m.sent_at WHERE m.org_id = $1`: mails * people,
		`SELECT count(DISTINCT tableoid) FROM message_recipients WHERE org_id = $1`:                                                                                    mails,
	} {
		if n := numberOf(t, db, query, org); n != want {
			t.Errorf("%d, want %d: %s", n, want, query)
		}
	}
}

// TestPurgeDeletesRecipientsThatEventsAdd lets an event add a recipient to an old message while the
// message is purged. The recipient must not outlive the message.
func TestPurgeDeletesRecipientsThatEventsAdd(t *testing.T) {
	t.Parallel()
	db, org := storagetest.Postgres(t), core.NewID()
	record := func(ctx context.Context, id, person string) error {
		_, err := db.Messages().RecordEvents(ctx, org, []messages.Event{eventTo(id, "m", person, sentAt)}, sentAt)
		return err
	}
	if err := record(t.Context(), "first", "ada@example.com"); err != nil {
		t.Fatal(err)
	}
	purged := make(chan error, 1)
	if err := db.InTx(t.Context(), func(ctx context.Context) error {
		if err := record(ctx, "second", "ben@example.com"); err != nil {
			return err
		}
		go func() {
			_, err := db.Messages().Purge(t.Context(), org, sentAt.Add(time.Hour), 10)
			purged <- err
		}()
		for waiting := 0; waiting == 0; {
			waiting = numberOf(t, db, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = $1`, "Lock")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := <-purged; err != nil {
		t.Fatal(err)
	}
	if n := numberOf(t, db, `SELECT count(*) FROM message_recipients WHERE org_id = $1`, org); n != 0 {
		t.Errorf("%d recipients of a message that is gone", n)
	}
}

func numberOf(t *testing.T, db *storage.DB, query string, args ...any) (n int) {
	t.Helper()
	if err := db.Reader().QueryRowContext(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
