package storage_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/mailhelm/mailhelm/core/site"
	"github.com/mailhelm/mailhelm/core/visitorids"
	"github.com/mailhelm/mailhelm/storage"
)

var siteStore = reflect.TypeFor[site.Store]()

// siteKey returns the site key of the owner.
func (o ownedObjects) siteKey() string { return "pk_live_" + o.org }

// visitorKey returns the key of the owner's visitor id within an organization.
func visitorKey(org string) visitorids.Key {
	return visitorids.Key{OrgID: org, Hash: visitorids.HashOf("same")}
}

func (o ownedObjects) ownSite(t *testing.T, db *storage.DB) {
	t.Helper()
	ctx, store := t.Context(), db.Site()
	must(t, store.InsertSiteKey(ctx, o.org, site.Key{Value: o.siteKey(), CreatedAt: start}))
	must(t, store.TurnSiteOff(ctx, o.org, start))
	must(t, store.AddSiteCounts(ctx, []site.DayCount{{OrgID: o.org, Day: start, Count: site.Count{Outcome: site.BadName, Name: "x", Beacons: 1, LastAt: start}}}))
}

// siteState returns what the owner has set, and what the owner's keys find.
func (o ownedObjects) siteState(t *testing.T, db *storage.DB) []any {
	t.Helper()
	ctx, store := t.Context(), db.Site()
	keys, err := store.SiteKeys(ctx, o.org, start)
	must(t, err)
	off, err := store.SiteOff(ctx, o.org)
	must(t, err)
	counts, err := store.SiteCounts(ctx, o.org, start)
	must(t, err)
	all, err := store.AllSiteKeys(ctx, start)
	must(t, err)
	all = slices.DeleteFunc(all, func(k site.OwnedKey) bool { return k.OrgID != o.org })
	found, err := db.VisitorIDs().ContactsOf(ctx, []visitorids.Key{visitorKey(o.org)})
	must(t, err)
	return []any{keys, off, counts, all, found[visitorKey(o.org)]}
}

func siteCalls(o ownedObjects, org string) map[string]storeCall {
	return map[string]storeCall{
		"SiteKeys": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Site().SiteKeys(t.Context(), org, start)
		},
		"ExpireSiteKey": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Site().ExpireSiteKey(t.Context(), org, o.siteKey(), later(1))
		},
		"DeleteExpiredSiteKeys": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Site().DeleteExpiredSiteKeys(t.Context(), org, later(1))
		},
		"SiteOff": func(t *testing.T, db *storage.DB) (any, error) { return db.Site().SiteOff(t.Context(), org) },
		"TurnSiteOff": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Site().TurnSiteOff(t.Context(), org, start)
		},
		"TurnSiteOn": func(t *testing.T, db *storage.DB) (any, error) { return nil, db.Site().TurnSiteOn(t.Context(), org) },
		"SiteCounts": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Site().SiteCounts(t.Context(), org, start)
		},
		"AddSiteCounts": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Site().AddSiteCounts(t.Context(), []site.DayCount{{OrgID: org, Day: start, Count: site.Count{Outcome: site.BadName, Name: "x", Beacons: 1, LastAt: later(1)}}})
		},
		"ContactsOf": func(t *testing.T, db *storage.DB) (any, error) {
			return db.VisitorIDs().ContactsOf(t.Context(), []visitorids.Key{visitorKey(org)})
		},
	}
}
