package broadcasts_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/dispatch"
	"github.com/mailhelm/mailhelm/core/handover"
)

// interrupted are the steps of a handover, the first of which panics.
type interrupted struct {
	*handover.Handover
	steps atomic.Int64
}

func (i *interrupted) Step(ctx context.Context, orgID, sendID string, m handover.Mailing) (handover.Progress, error) {
	if i.steps.Add(1) == 1 {
		panic("step")
	}
	return i.Handover.Step(ctx, orgID, sendID, m)
}

// TestLanes checks that each of many recipients gets one message with the recipient's own
// data although several steps run at the same time, and although one of them panics. The
// other lane then passes all messages, and the drive after the rest of a failed broadcast ends
// it.
func TestLanes(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		const recipients = 230
		people := make([]person, recipients)
		for i := range people {
			people[i] = person{email: fmt.Sprintf("p%d@x.example", i), attributes: map[string]any{"first_name": fmt.Sprint("P", i)}}
		}
		w.add(t, people...)
		id := w.draft(t, template)
		w.send(t, id)
		steps := &interrupted{Handover: w.handover("one")}
		d := dispatch.New(dispatch.Config{
			Sends: w.Broadcasts, Store: w.db.Broadcasts(), Open: w.db.OpenBroadcasts(), Outcomes: w.db.Outcomes(), Steps: steps, Transactor: w.db,
			Wait: w.wait, Clock: w.Now, Log: slog.New(slog.DiscardHandler),
		})
		for range 2 {
			must(t, d.Look(t.Context()))
			d.Join()
			w.wait(t.Context(), w.Now().Add(5*time.Second))
		}
		if n := steps.steps.Load(); n < recipients/50 {
			t.Errorf("%d steps, want one for each batch at least", n)
		}
		if got := w.read(t, id); got.State != "sent" || got.Sent != recipients || got.Failed != 0 {
			t.Errorf("the broadcast is %s with %d sent and %d failed", got.State, got.Sent, got.Failed)
		}
		mails := w.mails()
		if len(mails) != recipients || len(w.sent) != recipients {
			t.Errorf("%d messages to %d recipients, want %d", len(w.sent), len(mails), recipients)
		}
		for i, p := range people {
			if got, want := mails[p.email].Content.Subject, fmt.Sprint("Hi P", i); got != want {
				t.Errorf("%s gets %q, want %q", p.email, got, want)
			}
		}
	})
}
