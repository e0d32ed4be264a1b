package reports_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func TestWindowsAreRefusedByName(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, name := range []string{"reports_deliverability", "reports_engagement", "reports_template_performance"} {
		for field, c := range map[string]struct {
			value any
			code  core.Code
		}{
			"from":    {now.AddDate(0, 0, -91).Format(time.RFC3339), core.CodePlanRetentionExceeded},
			"to":      {now.AddDate(0, 0, -91).Format(time.RFC3339), core.CodePlanRetentionExceeded},
			"channel": {"not-a-uuid", core.CodeValidationFailed},
		} {
			_, err := call[core.Collection[any]](t.Context(), b, core.REST, name, map[string]any{field: c.value})
			wantRefusal(t, err, c.code)
		}
	}
	_, err := call[core.Collection[any]](t.Context(), b, core.REST, "reports_engagement", map[string]any{"group_by": "year"})
	wantRefusal(t, err, core.CodeValidationFailed)
}

// TestConcurrentBatchesCountEverything checks that concurrent batches that update the same
// counts in different orders do not deadlock or lose a count.
func TestConcurrentBatchesCountEverything(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		const batches = 8
		b := setupOn(db)
		var done sync.WaitGroup
		failed := make(chan error, batches)
		for n := range batches {
			done.Go(func() {
				var events []messages.Event
				for s := range 30 {
					events = append(events, mail{
						fmt.Sprintf("m%d-%d", n, s), now.AddDate(0, 0, -s%5-1), fmt.Sprint("channel", s%7), fmt.Sprint("template", s%3),
						map[messages.EventType]int{messages.Send: 2, messages.Bounce: 2, messages.Open: 2},
					}.events()...)
				}
				if n%2 == 1 {
					slices.Reverse(events)
				}
				failed <- b.record(t.Context(), events)
			})
		}
		done.Wait()
		for range batches {
			if err := <-failed; err != nil {
				t.Error(err)
			}
		}
		h := b.health(t, nil)
		const each = batches * 30 * 2
		if want := (reports.Counts{Sent: each, Bounced: each, Opens: each, UniqueOpens: each}); h.Totals != want {
			t.Errorf("counted %+v, want %+v", h.Totals, want)
		}
	})
}

// TestUndoneEventsAreNotCounted checks that a rolled back transaction stores neither events
// nor counts.
func TestUndoneEventsAreNotCounted(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b, undo := setupOn(db), errors.New("undo")
		events := mail{"m", now.AddDate(0, 0, -1), "shop-set", "welcome", map[messages.EventType]int{messages.Send: 2, messages.Open: 2, messages.Bounce: 1}}.events()
		err := db.InTx(t.Context(), func(ctx context.Context) error {
			if err := b.record(ctx, events); err != nil {
				return err
			}
			return undo
		})
		if !errors.Is(err, undo) {
			t.Fatal(err)
		}
		if h := b.health(t, nil); h.Totals != (reports.Counts{}) {
			t.Errorf("counted %+v", h.Totals)
		}
		if err := b.record(t.Context(), events); err != nil {
			t.Fatal(err)
		}
		if h := b.health(t, nil); h.Totals != (reports.Counts{Sent: 2, Opens: 2, UniqueOpens: 2, Bounced: 1}) {
			t.Errorf("counted %+v", h.Totals)
		}
	})
}

func TestOverview(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(db)
		events := mail{"m", now.AddDate(0, 0, -6), "shop-set", "welcome", map[messages.EventType]int{messages.Send: 7, messages.Bounce: 4}}.events()
		older := mail{"o", now.AddDate(0, 0, -7), "shop-set", "welcome", map[messages.EventType]int{messages.Bounce: 9}}.events()
		tried := mail{"t", now.AddDate(0, 0, -1), "shop-set", "welcome", map[messages.EventType]int{messages.Bounce: 9}}.events()
		for i := range tried {
			tried[i].Mail.Test = true
		}
		if err := b.record(t.Context(), slices.Concat(events, older, tried)); err != nil {
			t.Fatal(err)
		}
		o, err := b.reports.Overview(t.Context(), b.org.ID, 7, false)
		if err != nil {
			t.Fatal(err)
		}
		want := []reports.DomainBounces{{Domain: "mail0.example", Bounced: 2}, {Domain: "mail1.example", Bounced: 1}, {Domain: "mail2.example", Bounced: 1}}
		if diff := cmp.Diff(want, o.Domains); diff != "" {
			t.Errorf("domains (-want +got):\n%s", diff)
		}
		if len(o.Days) != 7 || o.Days[0].Sent != 7 || o.Totals.Bounced != 4 {
			t.Errorf("%+v", o)
		}
		for _, bounce := range o.Bounces {
			if len(o.Bounces) != 4 || bounce.Recipient[:4] != "p***" || bounce.Type != messages.PermanentBounce {
				t.Errorf("bounces %+v", o.Bounces)
			}
		}
		if o, err = b.reports.Overview(t.Context(), b.org.ID, 7, true); err != nil || o.Bounces[3].Recipient[:3] == "p**" {
			t.Errorf("unmasked: %+v, %v", o.Bounces, err)
		}
	})
}
