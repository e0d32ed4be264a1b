package partitions_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/storage/partitions"
)

// TestRecipientsAreThereOnceAfterAMove moves the table of recipients while events make the times of
// sending of messages earlier, also of one that was set aside because it is of the far future. Each
// statement and each commit of the move fails once before and once after it has run. No event may
// be refused, and each recipient of a message must be there once, with the time of the message.
func TestRecipientsAreThereOnceAfterAMove(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.undivide("message_recipients")
	const mails, org = 5, "org"
	record := func(i int, m string, at time.Time) error {
		_, err := f.db.Messages().RecordEvents(t.Context(), org, []messages.Event{{
			ID: fmt.Sprint("e-", i), MessageID: m, Type: messages.Delivery, OccurredAt: now, Recipient: fmt.Sprint("person", i%3, "@example.com"),
			Mail: messages.Mail{From: "shop@example.com", SentAt: at},
		}}, now)
		return err
	}
	for i := range 3 {
		f.must(record(-1-i, "future", now.AddDate(3, 0, 0)))
		f.must(record(-4-i, "later", now.AddDate(3, 0, 0)))
	}
	var written atomic.Int64
	stop, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		var err error
		for i := 0; err == nil; i++ {
			select {
			case <-stop:
				ended <- nil
				return
			default:
				err = record(i, fmt.Sprint("m-", i%mails), now.AddDate(0, 0, 20-i))
				written.Add(1)
			}
		}
		ended <- err
	}()
	failures, corrected := partitions.Failures{}, false
	for done := false; !done; {
		var err error
		if done, err = f.keeper.Failing(failures).Move(t.Context(), "message_recipients", now); err != nil && !errors.Is(err, partitions.ErrInjected) && !errors.Is(err, partitions.ErrBusy) {
			t.Fatal(err)
		}
		if !corrected && f.text("SELECT to_regclass('message_recipients_parked')") != "" {
			f.must(record(-7, "future", now))
			corrected = true
		}
	}
	for before := written.Load(); written.Load() < before+2*mails; {
		runtime.Gosched()
	}
	close(stop)
	f.must(<-ended)
	if pieces := f.pieces("message_recipients"); !corrected || !slices.Equal(pieces, []string{"message_recipients_203105", "message_recipients_before_203105", "message_recipients_default"}) {
		t.Errorf("corrected: %t, partitions: %v", corrected, pieces)
	}
	for query, want := range map[string]int{
		"message_recipients": 3 * (mails + 2),
		"message_recipients AS r JOIN messages AS m ON m.org_id = r.org_id AND m.id = r.message_id AND m.sent_at = r.sent_at": 3 * (mails + 2),
		"message_recipients_default": 3, // of the message without a correction
	} {
		if got := f.text("SELECT count(*) FROM " + query); got != fmt.Sprint(want) {
			t.Errorf("%s rows, want %d: %s", got, want, query)
		}
	}
}
