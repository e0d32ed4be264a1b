package activities_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/storage"
)

const day = 24 * time.Hour

// TestOldActivitiesAreForgotten checks that activities are purged by the time of their
// receipt, and not by the time at which they happened. They must stay until the retention
// period ends.
func TestOldActivitiesAreForgotten(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db *storage.DB) {
		b := setup(t, db)
		b.record(t, `{"name":"first","email":"ann@x.example"},{"name":"once","email":"ann@x.example","dedup_mode":"once","idempotency_key":"k"}`)
		b.record(t, `{"name":"key","email":"ann@x.example","idempotency_key":"k","occurred_at":"2026-02-28T00:00:00Z"}`)
		b.advance(300 * day)
		b.record(t, `{"name":"late","email":"ann@x.example","occurred_at":"2020-01-01T00:00:00Z"}`)
		b.advance(65 * day)
		if got := names(b.page(t, `{}`)); got != "once first key late" && got != "first once key late" {
			t.Errorf("after 365 days: %q", got)
		}
		b.advance(time.Second)
		if got := names(b.page(t, `{}`)); got != "late" {
			t.Errorf("before the purge: %q", got)
		}
		b.purge(t, 365)
		if got, err := db.Activities().Activities(t.Context(), b.org.ID, activities.Filter{Limit: 10}); err != nil || len(got) != 1 || got[0].Name != "late" {
			t.Errorf("after the purge: %+v, %v", got, err)
		}
		if got := b.record(t, `{"name":"once","email":"ann@x.example","dedup_mode":"once"}`); !got[0].Duplicate {
			t.Errorf("the claim went with the activity: %+v", got)
		}
		b.purge(t, 30)
		if got, err := db.Activities().Activities(t.Context(), b.org.ID, activities.Filter{Limit: 10}); err != nil || len(got) != 0 {
			t.Errorf("beyond the plan: %+v, %v", got, err)
		}
	})
}

// TestPurgeTakesManySteps checks that a purge in several steps deletes exactly the old
// activities when recent activities lie between them.
func TestPurgeTakesManySteps(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db *storage.DB) {
		b := setup(t, db)
		contact := b.contact(t, "ann@x.example", "")
		all := make([]activities.Activity, 2500)
		for i := range all {
			all[i] = activities.Activity{
				ID: core.NewID(), ContactID: contact, Name: fmt.Sprint(i % 5), Source: activities.FromAPI, Properties: []byte(`{}`),
				OccurredAt: b.clock().Add(-400*day + time.Duration(i)*time.Second), ReceivedAt: b.clock().Add(-400 * day).Add(time.Hour),
			}
			if i%5 == 0 {
				all[i].ReceivedAt = b.clock()
			}
		}
		if err := db.Activities().Insert(t.Context(), b.org.ID, all); err != nil {
			t.Fatal(err)
		}
		b.purge(t, 365)
		remaining, err := db.Activities().Activities(t.Context(), b.org.ID, activities.Filter{Limit: 3000})
		if err != nil || len(remaining) != 500 {
			t.Fatalf("%d left, %v", len(remaining), err)
		}
		for _, a := range remaining {
			if a.Name != "0" {
				t.Fatalf("%+v stayed", a)
			}
		}
	})
}

func (b *bundle) purge(t *testing.T, retentionDays int) {
	t.Helper()
	worker := activities.PurgeWorker(activities.PurgeConfig{
		From: b.db.Activities(), Clock: b.clock, Log: slog.New(slog.DiscardHandler),
		Orgs: func(context.Context) ([]string, error) { return []string{b.org.ID}, nil },
		Org: func(context.Context, string) (core.Org, error) {
			org := b.org
			org.RetentionDays = retentionDays
			return org, nil
		},
	})
	if err := worker.Work(t.Context(), activities.PurgeArgs{}); err != nil {
		t.Fatal(err)
	}
}
