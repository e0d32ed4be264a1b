package handover_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// application is the application whose daily cap applies to a cappedMailing.
const application = "application"

// cappedMailing is a send that application asked for.
type cappedMailing struct{ mailing }

func (cappedMailing) Application() string { return application }

// throttling is an account that throttles until it is set to accept.
type throttling struct {
	accepting
	accepts bool
}

func (a *throttling) Send(context.Context, string, sending.Message) (string, error) {
	if a.accepts {
		return core.NewID(), nil
	}
	return "", &sending.Failure{Kind: sending.Throttled, RetryAfter: time.Second}
}

// TestThrottledMessagesDoNotUseTheDailyCap lets the account throttle several times. The
// recipients that it threw back got no mail, so they must not count in the daily cap.
func TestThrottledMessagesDoNotUseTheDailyCap(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		org, send, now, to, most := core.NewID(), core.NewID(), &clock{now: start}, &throttling{}, 10
		var all []handover.Recipient
		for i := range 30 {
			all = append(all, handover.Recipient{Key: fmt.Sprintf("c%02d-", i), Email: "c@example.com"})
		}
		if err := db.Handover().Add(t.Context(), org, send, all, start); err != nil {
			t.Fatal(err)
		}
		if err := db.HandoverLimits().SetCap(t.Context(), org, application, &most); err != nil {
			t.Fatal(err)
		}
		h := handover.New(handover.Config{
			Store: db.Handover(), Limits: db.HandoverLimits(), Transactor: db, Account: to, Process: "process", Rate: unlimited, Wait: noWait, Clock: now.Now, Log: slog.New(slog.DiscardHandler),
		})
		for step := range 3 {
			if p, err := h.Step(t.Context(), org, send, cappedMailing{}); err != nil || p.Claimed != most || p.Hold != "" {
				t.Errorf("step %d at a throttling account: %+v, %v", step, p, err)
			}
			now.advance(time.Minute)
		}
		wantUsed := func(want int) {
			t.Helper()
			if got, err := handover.UsedToday(t.Context(), db.HandoverLimits(), org, application, now.Now()); err != nil || got != want {
				t.Errorf("used today: %d, %v, want %d", got, err, want)
			}
		}
		wantUsed(0)
		to.accepts = true
		if p, err := h.Step(t.Context(), org, send, cappedMailing{}); err != nil || p.Claimed != most {
			t.Errorf("the account accepts: %+v, %v", p, err)
		}
		now.advance(time.Minute)
		if p, err := h.Step(t.Context(), org, send, cappedMailing{}); err != nil || p.Claimed != 0 || p.Hold != handover.DailyCap {
			t.Errorf("after the cap: %+v, %v", p, err)
		}
		wantUsed(most)
		counts, err := db.Outcomes().Counts(t.Context(), org, send)
		if err != nil || counts[handover.Sent] != most || counts[handover.Pending] != len(all)-most {
			t.Errorf("outcomes %v, %v", counts, err)
		}
		now.advance(24 * time.Hour)
		wantUsed(0)
	})
}
