package storage_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestClaimsThatFailLeaveTheTransactionUsable: their tables are gone, and what else the
// transaction does is kept, what was claimed in the failed attempt is not.
func TestClaimsThatFailLeaveTheTransactionUsable(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		org, now := core.NewID(), time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
		store, act := db.Activities(), anActivity(now)
		// The first transaction prepares all statements, which needs their tables.
		if err := db.InTx(t.Context(), func(context.Context) error { return nil }); err != nil {
			t.Fatal(err)
		}
		for _, table := range []string{"activity_keys", "activity_claims"} {
			if _, err := db.Writer().ExecContext(t.Context(), "ALTER TABLE "+table+" RENAME TO "+table+"_away"); err != nil {
				t.Fatal(err)
			}
		}
		err := db.InTx(t.Context(), func(ctx context.Context) error {
			_, errKeys := store.ClaimKeys(ctx, org, []activities.KeyClaim{{Key: "k", ActivityID: act.ID, ContactID: act.ContactID}}, now, now)
			_, errOnce := store.ClaimOnce(ctx, org, []activities.OnceClaim{{OnceKey: activities.OnceKey{ContactID: act.ContactID, Name: "a"}, ActivityID: act.ID}}, now)
			if !errors.Is(errKeys, activities.ErrClaims) || !errors.Is(errOnce, activities.ErrClaims) {
				t.Errorf("%v, %v", errKeys, errOnce)
			}
			return store.Insert(ctx, org, []activities.Activity{act})
		})
		if err != nil {
			t.Fatal(err)
		}
		if found, err := store.Activities(t.Context(), org, activities.Filter{Limit: 10}); err != nil || len(found) != 1 {
			t.Errorf("%+v, %v", found, err)
		}
	})
}

// TestClaimsEndWithTheirCaller: a caller who left is no reason to go on without claims.
func TestClaimsEndWithTheirCaller(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, leave := context.WithCancel(t.Context())
		err := db.InTx(ctx, func(ctx context.Context) error {
			leave()
			_, err := db.Activities().ClaimOnce(ctx, core.NewID(), []activities.OnceClaim{{ActivityID: core.NewID()}}, time.Now())
			return err
		})
		if !errors.Is(err, context.Canceled) || errors.Is(err, activities.ErrClaims) {
			t.Error(err)
		}
	})
}

func anActivity(at time.Time) activities.Activity {
	return activities.Activity{
		ID: core.NewID(), ContactID: core.NewID(), Name: "a", OccurredAt: at, ReceivedAt: at,
		Source: activities.FromAPI, Properties: []byte(`{}`),
	}
}

// TestPagesOfActivitiesWalkAnIndex: the plan of each page, and of looking for what is
// old, is a walk along the index that is in its order, with nothing to sort.
func TestPagesOfActivitiesWalkAnIndex(t *testing.T) {
	t.Parallel()
	db, seen := storagetest.SQLite(t), 0
	walks := map[string]string{
		"activities by time": "sqlite_autoindex_activities_1", "old activities": "sqlite_autoindex_activities_1",
		"activities by name": "activities_by_name", "activities of a contact": "activities_of_contact",
	}
	for _, s := range storage.Statements() {
		index, ours := walks[s.Name()]
		if !ours {
			continue
		}
		seen++
		plan := planOf(t, db, s)
		if !strings.Contains(plan, index) || !strings.Contains(plan, "<(") && !strings.Contains(plan, "<?") || strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%s: %s", s.Name(), plan)
		}
	}
	if seen != len(walks) {
		t.Errorf("%d statements of %d", seen, len(walks))
	}
}
