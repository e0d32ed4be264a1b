package storage_test

import (
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/storage"
)

// BenchmarkContactsPageDepth reads the first page of contacts, and a page after half a
// million others. Both should take the same time.
func BenchmarkContactsPageDepth(b *testing.B) {
	eachBench(b, func(b *testing.B, db *storage.DB) {
		const people, depth = 1_000_000, 500_000
		org, base := core.NewID(), core.SystemClock().Add(-time.Hour)
		at := func(page int) time.Time { return base.Add(time.Duration(page) * time.Second) }
		for page := range people / written {
			if _, _, err := db.Subscribers().MirrorConsent(b.Context(), org, accountPage(page*written, written), at(page), at(page)); err != nil {
				b.Fatal(err)
			}
		}
		deep := &core.After{At: at((people - depth) / written), ID: ""}
		for _, from := range []struct {
			name  string
			after *core.After
		}{{"first", nil}, {"deep", deep}} {
			run(b, from.name, func(int) error {
				page, err := db.Contacts().Contacts(b.Context(), org, contacts.ContactFilter{After: from.after, Limit: 51})
				if err == nil && len(page) != 51 {
					b.Fatalf("%d contacts", len(page))
				}
				return err
			})
		}
	})
}
