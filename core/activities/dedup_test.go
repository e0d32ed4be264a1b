package activities_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/storage"
)

func TestAUsedKeyIsTheSameActivity(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db *storage.DB) {
		b, other := setup(t, db), setup(t, db)
		const item = `{"name":"paid","email":"ann@x.example","idempotency_key":"k1","properties":{"n":%d}}`
		first := b.record(t, item+","+item+`,{"name":"paid","email":"ann@x.example"},{"name":"paid","email":"ann@x.example"}`, 1, 2)
		if first[0].Duplicate || !first[1].Duplicate || first[1].ActivityID != first[0].ActivityID || first[2].Duplicate || first[3].Duplicate {
			t.Errorf("one batch: %+v", first)
		}
		b.advance(activities.KeyWindow - time.Second)
		again := b.record(t, `{"name":"other","email":"bob@x.example","idempotency_key":"k1","dedup_mode":"retry"}`)
		if !again[0].Duplicate || again[0].ActivityID != first[0].ActivityID || again[0].ContactID != first[0].ContactID {
			t.Errorf("within the day: %+v, want %+v", again[0], first[0])
		}
		if mine := other.record(t, item, 3); mine[0].Duplicate {
			t.Errorf("keys of organizations are apart: %+v", mine)
		}
		b.advance(time.Second)
		later := b.record(t, item, 4)
		if later[0].Duplicate || later[0].ActivityID == first[0].ActivityID {
			t.Errorf("after a day: %+v", later)
		}
		if page := b.page(t, `{"name":"paid"}`); len(page.Items) != 4 {
			t.Errorf("%d activities, want 4", len(page.Items))
		}
		if page := b.page(t, `{"name":"other"}`); len(page.Items) != 0 {
			t.Errorf("a duplicate was written: %+v", page.Items)
		}
	})
}

func TestDeduplicationHasNoTimeLimit(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db *storage.DB) {
		b := setup(t, db)
		const item = `{"name":"joined","email":"ann@x.example","dedup_mode":"once","idempotency_key":%q}`
		first := b.record(t, item+","+item+`,{"name":"left","email":"ann@x.example","dedup_mode":"once"},{"name":"joined","email":"bob@x.example","dedup_mode":"once"}`, "k1", "k2")
		if first[0].Duplicate || !first[1].Duplicate || first[1].ActivityID != first[0].ActivityID || first[2].Duplicate || first[3].Duplicate {
			t.Errorf("one batch: %+v", first)
		}
		b.advance(1000 * 24 * time.Hour)
		again := b.record(t, item, "k3")
		if again[0].Status != "accepted" || !again[0].Duplicate || again[0].ActivityID != first[0].ActivityID {
			t.Errorf("later: %+v", again)
		}
		// Mode once ignores the idempotency key k1, so a later item can use the key.
		if free := b.record(t, `{"name":"joined","email":"ann@x.example","idempotency_key":"k1"}`); free[0].Duplicate {
			t.Errorf("a key that once ignored is used: %+v", free)
		}
	})
}

// TestAThousandClaimsOfOneName checks that 1,000 concurrent calls with the same item store
// one activity. It does this for an item with the dedup_mode "once", and for an item with
// an idempotency key.
func TestAThousandClaimsOfOneName(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db *storage.DB) {
		b := setup(t, db)
		for mode, item := range map[string]string{
			"once":  `{"name":"once","email":"ann@x.example","dedup_mode":"once"}`,
			"retry": `{"name":"retry","email":"bob@x.example","idempotency_key":"k"}`,
		} {
			const callers = 1000
			results := make([]activities.ItemResult, callers)
			var wait sync.WaitGroup
			for i := range callers {
				wait.Go(func() { results[i] = b.recordAside(t, item)[0] })
			}
			wait.Wait()
			fresh, ids := 0, map[string]bool{}
			for _, r := range results {
				if r.Status != "accepted" {
					t.Errorf("%s: %+v", mode, r)
				}
				if !r.Duplicate {
					fresh++
				}
				ids[r.ActivityID] = true
			}
			if fresh != 1 || len(ids) != 1 {
				t.Errorf("%s: %d accepted anew, %d ids", mode, fresh, len(ids))
			}
			if page := b.page(t, `{"name":%q}`, mode); len(page.Items) != 1 {
				t.Errorf("%s: %d written", mode, len(page.Items))
			}
		}
	})
}

// silent is a store whose ClaimKeys and ClaimOnce always fail with err.
type silent struct {
	activities.Store
	err error
}

func (s silent) ClaimKeys(context.Context, string, []activities.KeyClaim, time.Time, time.Time) (map[string]activities.KeyClaim, error) {
	return nil, s.err
}

func (s silent) ClaimOnce(context.Context, string, []activities.OnceClaim, time.Time) (map[activities.OnceKey]activities.OnceClaim, error) {
	return nil, s.err
}

func TestRetryFailsOpenAndOnceFailsClosed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db *storage.DB) {
		broken := setup(t, db, func(cfg *activities.Config) {
			cfg.Store = silent{cfg.Store, fmt.Errorf("%w: disk", activities.ErrClaims)}
		})
		items := `{"name":"a","email":"ann@x.example","idempotency_key":"k"},{"name":"a","email":"ann@x.example","idempotency_key":"k"},` +
			`{"name":"a","email":"ann@x.example","dedup_mode":"once"},{"name":"a","email":"ann@x.example"}`
		got := broken.record(t, items)
		if got[0].Status != "accepted" || got[0].Duplicate || !got[1].Duplicate || got[2].Reason != activities.DedupUnavailable || got[3].Status != "accepted" {
			t.Errorf("%+v", got)
		}
		if page := broken.page(t, `{}`); len(page.Items) != 2 {
			t.Errorf("%d written, want 2", len(page.Items))
		}
		_, err := setup(t, db, func(cfg *activities.Config) {
			cfg.Store = silent{cfg.Store, errors.New("the whole transaction must be tried again")}
		}).run(t.Context(), "activities_record", `{"activities":[`+items+`]}`)
		if err == nil {
			t.Error("another failure is no reason to go on")
		}
	})
}

func TestHooksGetNewActivitiesOnly(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db *storage.DB) {
		var notified []string
		b := setup(t, db, func(cfg *activities.Config) {
			cfg.OnChange = func(_ context.Context, _ string, contacts []string) error {
				notified = append(notified, contacts...)
				return nil
			}
		})
		const item = `{"name":"a","email":"ann@x.example","idempotency_key":"k"}`
		got := b.record(t, item+`,{"name":"b","email":"ann@x.example"},{"name":"","email":"bob@x.example"}`)
		b.record(t, item)
		if len(notified) != 1 || notified[0] != got[0].ContactID {
			t.Errorf("told of %v", notified)
		}
		err := b.activities.Record(t.Context(), b.org.ID, got[0].ContactID, "site_identified", b.clock())
		if err != nil || len(notified) != 2 {
			t.Errorf("%v, told of %v", err, notified)
		}
		page := b.page(t, `{"name":"site_identified"}`)
		if len(page.Items) != 1 || page.Items[0].Source != activities.FromSite || string(page.Items[0].Properties) != "{}" {
			t.Errorf("%+v", page.Items)
		}
		failing := setup(t, db, func(cfg *activities.Config) {
			cfg.OnChange = func(context.Context, string, []string) error { return errors.New("no") }
		})
		if _, err := failing.run(t.Context(), "activities_record", `{"activities":[`+item+`]}`); err == nil {
			t.Error("a hook that fails undoes the write")
		}
		if page := failing.page(t, `{}`); len(page.Items) != 0 {
			t.Errorf("%+v", page.Items)
		}
	})
}

func TestVolumeIsPerItem(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db *storage.DB) {
		remaining := 2
		b := setup(t, db, func(cfg *activities.Config) {
			cfg.Admit = func(_ context.Context, _ string, n int) (int, error) {
				n = min(n, remaining)
				remaining -= n
				return n, nil
			}
		})
		got := b.record(t, `{"name":"","email":"ann@x.example"},{"name":"a","email":"ann@x.example"},{"name":"a","email":"ann@x.example"},{"name":"a","email":"late@x.example"}`)
		if got[0].Reason != activities.InvalidName || got[1].Status != "accepted" || got[2].Status != "accepted" || got[3].Reason != activities.RateLimited {
			t.Errorf("%+v", got)
		}
		if id, err := db.Activities().ContactByReference(t.Context(), b.org.ID, "late@x.example"); id != "" || err != nil {
			t.Errorf("an item beyond the limit made a contact: %q, %v", id, err)
		}
		uncounted := setup(t, db, func(cfg *activities.Config) {
			cfg.Log = slog.New(slog.DiscardHandler)
			cfg.Admit = func(context.Context, string, int) (int, error) { return 0, errors.New("no answer") }
		})
		if got := uncounted.record(t, `{"name":"a","email":"ann@x.example"}`); got[0].Status != "accepted" {
			t.Errorf("a limit that cannot be counted refused: %+v", got)
		}
	})
}
