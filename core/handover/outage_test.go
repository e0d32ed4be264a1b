package handover_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// away is a store whose database is away until a time. If it is late, answers are stored, and the
// connection breaks before the database says so.
type away struct {
	handover.Store
	clock *clock
	until time.Time
	late  bool
}

func (a *away) Answer(ctx context.Context, orgID, sendID string, answers []handover.Answer, now time.Time) error {
	if !a.clock.Now().Before(a.until) {
		return a.Store.Answer(ctx, orgID, sendID, answers, now)
	}
	if a.late {
		if err := a.Store.Answer(ctx, orgID, sendID, answers, now); err != nil {
			return err
		}
	}
	return core.TemporarilyUnavailable(errors.New("connection refused"))
}

// TestOutcomesAreStoredAfterAnOutage lets the database go away while the account answers. The
// outcomes must be stored when it answers again, once. After Patience the step must end.
func TestOutcomesAreStoredAfterAnOutage(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		for name, c := range map[string]struct {
			outage time.Duration
			late   bool
			want   handover.State
		}{
			"seconds": {outage: 30 * time.Second, want: handover.Sent},
			"answer":  {outage: 30 * time.Second, late: true, want: handover.Sent},
			"hour":    {outage: time.Hour, want: handover.HandingOver},
		} {
			org, send, now := core.NewID(), core.NewID(), &clock{now: start}
			addRecipients(t, db, org, send, 3)
			to := &accepting{}
			h := handover.New(handover.Config{
				Store: &away{Store: db.Handover(), clock: now, until: start.Add(c.outage), late: c.late}, Limits: db.HandoverLimits(), Transactor: db,
				Account: to, Process: "process", Rate: unlimited, Clock: now.Now, Log: slog.New(slog.DiscardHandler),
				Wait: func(_ context.Context, until time.Time) { now.advance(max(0, until.Sub(now.Now()))) },
			})
			_, err := h.Step(t.Context(), org, send, mailing{})
			if (err == nil) != (c.want == handover.Sent) || now.Now().Sub(start) > handover.Patience+2*time.Second {
				t.Errorf("%s: %v after %s", name, err, now.Now().Sub(start))
			}
			r, err := db.Handover().Recipient(t.Context(), org, send, "00000")
			if err != nil || r.State != c.want {
				t.Errorf("%s: %+v, %v, want %s", name, r, err, c.want)
			}
		}
	})
}
