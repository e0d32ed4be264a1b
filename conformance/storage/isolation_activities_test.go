package storage_test

import (
	"context"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/storage"
)

// ownActivity gives the organization an activity and a promoted property. It also stores
// the activity's idempotency key, and the record that the contact has had an activity of
// this name.
func (o *ownedObjects) ownActivity(t *testing.T, db *storage.DB) {
	t.Helper()
	ctx, store := t.Context(), db.Activities()
	o.activity = activities.Activity{
		ID: core.NewID(), ContactID: o.contact.ID, Name: "same", OccurredAt: start, ReceivedAt: start,
		Source: activities.FromAPI, Properties: []byte(`{"same":"x"}`),
	}
	o.property = activities.Property{ID: core.NewID(), ActivityName: "same", Property: "same", Type: activities.StringProperty, CreatedAt: start, UpdatedAt: start}
	must(t, store.Insert(ctx, o.org, []activities.Activity{o.activity}))
	must(t, db.InTx(ctx, func(ctx context.Context) error {
		if _, err := store.ClaimKeys(ctx, o.org, []activities.KeyClaim{o.keyClaim()}, start, later(1)); err != nil {
			return err
		}
		_, err := store.ClaimOnce(ctx, o.org, []activities.OnceClaim{o.onceClaim()}, start)
		return err
	}))
	must(t, db.ActivityProperties().InsertProperty(ctx, o.org, o.property))
}

func (o ownedObjects) keyClaim() activities.KeyClaim {
	return activities.KeyClaim{Key: "same", ActivityID: o.activity.ID, ContactID: o.contact.ID}
}

func (o ownedObjects) onceClaim() activities.OnceClaim {
	return activities.OnceClaim{OnceKey: activities.OnceKey{ContactID: o.contact.ID, Name: "same"}, ActivityID: o.activity.ID}
}

// activityState returns the owner's activities, promoted properties, the contacts found by
// address or external id, and the stored claims: idempotency keys, and pairs of contact and
// name, by which duplicate activities are found.
func (o ownedObjects) activityState(t *testing.T, db *storage.DB) []any {
	t.Helper()
	ctx, store := t.Context(), db.Activities()
	var seen []any
	page, err := store.Activities(ctx, o.org, activities.Filter{Limit: 10})
	must(t, err)
	properties, err := db.ActivityProperties().PropertyPage(ctx, o.org, nil, 10)
	must(t, err)
	people, err := store.Identify(ctx, o.org, []string{"same@x", "stub@x"}, []string{"crm-1", "crm-2"})
	must(t, err)
	must(t, db.InTx(ctx, func(ctx context.Context) error {
		other := core.NewID()
		keys, err := store.ClaimKeys(ctx, o.org, []activities.KeyClaim{{Key: "same", ActivityID: other, ContactID: o.contact.ID}}, start, later(1))
		if err != nil {
			return err
		}
		once, err := store.ClaimOnce(ctx, o.org, []activities.OnceClaim{{OnceKey: o.onceClaim().OnceKey, ActivityID: other}}, start)
		seen = append(seen, keys, once)
		return err
	}))
	return append(seen, page, properties, people)
}

func activityCalls(o ownedObjects, org string) map[string]storeCall {
	store := func(db *storage.DB) activities.Store { return db.Activities() }
	return map[string]storeCall{
		"Identify": func(t *testing.T, db *storage.DB) (any, error) {
			return store(db).Identify(t.Context(), org, []string{"same@x"}, []string{"crm-1"})
		},
		"InsertStubs": func(t *testing.T, db *storage.DB) (any, error) {
			// Another organization may use the same address and the same contact id, so the
			// insert must succeed.
			n, err := store(db).InsertStubs(t.Context(), org, []activities.Person{{ID: o.contact.ID, Email: "same@x", EmailKey: "same@x", ExternalID: "crm-1"}}, later(5))
			return n != 1, err
		},
		"BindExternalIDs": func(t *testing.T, db *storage.DB) (any, error) {
			return store(db).BindExternalIDs(t.Context(), org, []activities.Person{{ID: o.shell.ID, ExternalID: "crm-2"}}, later(5))
		},
		"ClaimKeys": func(t *testing.T, db *storage.DB) (any, error) {
			var held any
			err := db.InTx(t.Context(), func(ctx context.Context) error {
				found, err := store(db).ClaimKeys(ctx, org, []activities.KeyClaim{{Key: "same", ActivityID: core.NewID(), ContactID: o.contact.ID}}, start, later(1))
				held = len(found)
				return err
			})
			return held, err
		},
		"ClaimOnce": func(t *testing.T, db *storage.DB) (any, error) {
			var held any
			err := db.InTx(t.Context(), func(ctx context.Context) error {
				found, err := store(db).ClaimOnce(ctx, org, []activities.OnceClaim{{OnceKey: o.onceClaim().OnceKey, ActivityID: core.NewID()}}, start)
				held = len(found)
				return err
			})
			return held, err
		},
		"Activities": func(t *testing.T, db *storage.DB) (any, error) {
			return store(db).Activities(t.Context(), org, activities.Filter{Limit: 10})
		},
		"Activities of a contact": func(t *testing.T, db *storage.DB) (any, error) {
			return store(db).Activities(t.Context(), org, activities.Filter{ContactID: o.contact.ID, Limit: 10})
		},
		"Activities of a name": func(t *testing.T, db *storage.DB) (any, error) {
			return store(db).Activities(t.Context(), org, activities.Filter{Name: "same", Limit: 10})
		},
	}
}

func summaryCalls(o ownedObjects, org string) map[string]storeCall {
	store := func(db *storage.DB) activities.Store { return db.Activities() }
	return map[string]storeCall{
		"activities.Store.Summaries": func(t *testing.T, db *storage.DB) (any, error) {
			return store(db).Summaries(t.Context(), org, o.contact.ID, activities.Since{})
		},
		"DailyCounts": func(t *testing.T, db *storage.DB) (any, error) {
			return store(db).DailyCounts(t.Context(), org, start.AddDate(-1, 0, 0), start.AddDate(-1, 0, 0), 10)
		},
		"ContactAddresses": func(t *testing.T, db *storage.DB) (any, error) {
			return store(db).ContactAddresses(t.Context(), org, []string{o.contact.ID})
		},
		"ContactByReference": func(t *testing.T, db *storage.DB) (any, error) {
			return store(db).ContactByReference(t.Context(), org, o.contact.ID)
		},
		"Property": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ActivityProperties().Property(t.Context(), org, o.property.ID)
		},
		"PropertyPage": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ActivityProperties().PropertyPage(t.Context(), org, nil, 10)
		},
		"UpdateProperty": func(t *testing.T, db *storage.DB) (any, error) {
			p := o.property
			p.Property = "changed"
			return nil, db.ActivityProperties().UpdateProperty(t.Context(), org, p)
		},
		"DeleteProperty": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.ActivityProperties().DeleteProperty(t.Context(), org, o.property.ID)
		},
		"CountDropout": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ActivityProperties().CountDropout(t.Context(), org, o.property, "")
		},
		"PurgeActivities": func(t *testing.T, db *storage.DB) (any, error) {
			n, _, err := db.Activities().PurgeActivities(t.Context(), org, later(1000), nil, 10)
			return n, err
		},
		"PurgeKeys": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Activities().PurgeKeys(t.Context(), org, later(1000), 10)
		},
	}
}
