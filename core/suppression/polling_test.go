package suppression_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/suppression"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// pollOnce reads all changes since the given time, as the documentation advises. It stores
// each change in the map into, keyed by email address. It returns the greatest
// last_changed_at that it received.
func (b *bundle) pollOnce(since time.Time, into map[string]string) time.Time {
	b.t.Helper()
	greatest := since
	for cursor := ""; ; {
		arguments := fmt.Sprintf(`{"since":%q,"limit":3`, since.Format(time.RFC3339Nano))
		if cursor != "" {
			arguments += fmt.Sprintf(`,"cursor":%q`, cursor)
		}
		shown := b.want(core.REST, "undeliverable_list", arguments+"}")
		for _, item := range shown["data"].([]any) {
			record := item.(map[string]any)
			into[record["email"].(string)] = fmt.Sprint(record["status"], record["event_count"], record["last_changed_at"])
			changed, err := time.Parse(time.RFC3339Nano, record["last_changed_at"].(string))
			b.must(err)
			if changed.After(greatest) {
				greatest = changed
			}
		}
		next, more := shown["pagination"].(map[string]any)["next_cursor"].(string)
		if !more {
			return greatest
		}
		cursor = next
	}
}

// TestPollingMissesNothingThatIsWrittenMeanwhile checks that a polling program finds all
// changes while several processes, with clocks minutes apart, change entries. No change
// may be stored with a last_changed_at before the greatest one that an earlier poll
// received.
func TestPollingMissesNothingThatIsWrittenMeanwhile(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setup(t, db)
		const writers, rounds = 4, 12
		var group sync.WaitGroup
		defer group.Wait()
		for w := range writers {
			cfg := b.s.Config
			cfg.Clock = func() time.Time { return b.clock().Add(-time.Duration(w) * time.Minute) }
			other := suppression.New(cfg)
			group.Go(func() {
				for i := range rounds {
					event := b.event(fmt.Sprintf("w%d-%d@example.com", w, i%5), messages.Complaint, "", i)
					err := b.db.InTx(context.Background(), func(ctx context.Context) error {
						fresh, err := b.db.Messages().RecordEvents(ctx, b.org, []messages.Event{event}, noon)
						if err != nil {
							return err
						}
						return other.ObserveEvents(ctx, b.org, fresh)
					})
					if err != nil {
						t.Error(err)
					}
					if i%4 != 3 {
						continue
					}
					entry := suppression.Entry{Key: event.Recipient}
					if _, err := other.Exclude(context.Background(), b.org, entry.ID(), "asked"); err != nil && core.AsError(err).Code != core.CodeConflict {
						t.Error(err)
					}
				}
			})
		}
		done := make(chan struct{})
		go func() { group.Wait(); close(done) }()
		followed, since := map[string]string{}, noon.Add(-24*time.Hour)
		for running := true; running; {
			select {
			case <-done:
				running = false
			default:
			}
			since = b.pollOnce(since, followed)
		}
		exact := map[string]string{}
		b.pollOnce(noon.Add(-24*time.Hour), exact)
		if diff := cmp.Diff(exact, followed); diff != "" || len(exact) != writers*5 {
			t.Errorf("%d addresses, what a poller has of them (-stored +polled):\n%s", len(exact), diff)
		}
		tombstones := 0
		for _, known := range followed {
			if strings.HasPrefix(known, string(suppression.Excluded)) {
				tombstones++
			}
		}
		if tombstones != writers*3 { // each writer excludes an address in three of its rounds
			t.Errorf("%d tombstones", tombstones)
		}
	})
}

// TestAClockThatIsSetBackHidesNoChange checks that polling finds changes that were made
// after the clock was set back.
func TestAClockThatIsSetBackHidesNoChange(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setup(t, db)
		b.must(b.record(t.Context(), b.event("a@example.com", messages.Complaint, "", 1), b.event("b@example.com", messages.Complaint, "", 1)))
		followed := map[string]string{}
		since := b.pollOnce(noon, followed)
		b.mu.Lock()
		b.now = noon.Add(-time.Hour)
		b.mu.Unlock()
		entry := suppression.Entry{Key: "a@example.com"}
		excluded, err := b.s.Exclude(t.Context(), b.org, entry.ID(), "asked")
		b.must(err)
		if !excluded.ExcludedAt.Before(noon) {
			t.Errorf("excluded at %v, which is not what the clock said", excluded.ExcludedAt)
		}
		b.must(b.record(t.Context(), b.event("c@example.com", messages.Complaint, "", 1)))
		b.pollOnce(since, followed)
		if len(followed) != 3 || followed["a@example.com"][:8] != "excluded" {
			t.Errorf("polled: %v", followed)
		}
	})
}

// TestEndlessBouncesAreJudgedByTheNewest checks that judging an address reads at most 1000
// events. The address must remain listed because of an older event, which is not read.
func TestEndlessBouncesAreJudgedByTheNewest(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setup(t, db)
		const many = 1500
		b.must(b.record(t.Context(), b.event("loop@example.com", messages.Bounce, messages.PermanentBounce, 1)))
		var flood []messages.Event
		for i := range many {
			e := b.event("Loop@example.com", messages.Bounce, messages.TransientBounce, 2)
			e.OccurredAt = e.OccurredAt.Add(time.Duration(i) * time.Second)
			flood = append(flood, e)
		}
		b.must(b.record(t.Context(), flood...))
		histories, err := b.db.Suppression().Adverse(t.Context(), b.org, []string{"loop@example.com", "nobody@example.com"}, 1000)
		b.must(err)
		if n := len(histories["loop@example.com"]); n != 1000 {
			t.Errorf("%d events are read", n)
		}
		shown := func() string {
			u, err := b.s.Undeliverable(t.Context(), b.org, "loop@example.com")
			b.must(err)
			return fmt.Sprint(u.Email, " ", u.Status, " ", u.Reason, " ", u.EventCount, " ", u.FirstSeenAt.Equal(noon.AddDate(0, 0, 1-60)))
		}
		const want = "loop@example.com listed permanent_bounce 1000 true"
		if got := shown(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		// If the rule for transient bounces is switched off, the address stays listed because
		// of its permanent bounce.
		_, err = b.s.SetRules(t.Context(), b.org, suppression.RulesOf(suppression.Strict))
		b.must(err)
		b.must(b.s.Rejudge(t.Context(), b.org))
		if got := shown(); got != want {
			t.Errorf("under strict rules: got %s, want %s", got, want)
		}
	})
}
