package storage_test

import (
	"context"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

const (
	benchContacts = 20_000
	written       = 5_000
)

// processorTime returns the processor time that this process has used, without that of
// PostgreSQL. On a busy machine it is more reliable than elapsed time.
func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func eachBench(b *testing.B, bench func(b *testing.B, db *storage.DB)) {
	b.Run("sqlite", func(b *testing.B) { bench(b, storagetest.SQLite(b)) })
	b.Run("postgres", func(b *testing.B) { bench(b, storagetest.Postgres(b)) })
}

// accountPage returns n contacts in the form in which a sending account lists them. Their
// addresses are numbered from the given number on.
func accountPage(from, n int) []sending.Contact {
	page := make([]sending.Contact, n)
	for i := range page {
		page[i] = sending.Contact{
			Email: fmt.Sprintf("person%07d@example.com", from+i),
			Preferences: map[string]sending.Subscription{
				"news": sending.OptIn, "offers": sending.OptOut,
			},
		}
	}
	return page
}

func fill(b *testing.B, db *storage.DB, orgID string) {
	b.Helper()
	now := core.SystemClock()
	for from := 0; from < benchContacts; from += written {
		if _, _, err := db.Subscribers().MirrorConsent(b.Context(), orgID, accountPage(from, written), now, now); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPointRead measures the reads that nearly every API call makes: of a contact, an
// organization and an API key. It also measures a page of 50 contacts.
func BenchmarkPointRead(b *testing.B) {
	eachBench(b, func(b *testing.B, db *storage.DB) {
		ctx, org := b.Context(), core.Org{ID: core.NewID(), Slug: "bench", Tier: "free"}
		key := access.APIKey{ID: core.NewID(), OrgID: org.ID, Environment: core.Live, Prefix: "abcdefgh", SecretHash: make([]byte, 32)}
		if err := db.Orgs().InsertOrg(ctx, org); err != nil {
			b.Fatal(err)
		}
		if err := db.Keys().InsertAPIKey(ctx, key); err != nil {
			b.Fatal(err)
		}
		fill(b, db, org.ID)
		run(b, "contact", func(i int) error {
			_, err := db.Contacts().ContactByEmail(ctx, org.ID, fmt.Sprintf("person%07d@example.com", i*7919%benchContacts))
			return err
		})
		run(b, "org", func(int) error { _, err := db.Orgs().Org(ctx, org.ID); return err })
		run(b, "apikey", func(int) error { _, err := db.Keys().APIKeys(ctx, core.Live, "abcdefgh"); return err })
		run(b, "page50", func(int) error {
			_, err := db.Contacts().Contacts(ctx, org.ID, contacts.ContactFilter{Limit: 50})
			return err
		})
	})
}

func run(b *testing.B, name string, f func(i int) error) {
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if err := f(i); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkMirror measures MirrorConsent, which copies the consent of one page of the
// sending account's contacts to the database. The page has 5,000 contacts. They are all
// new, or all unchanged after the first call.
func BenchmarkMirror(b *testing.B) {
	eachBench(b, func(b *testing.B, db *storage.DB) {
		now := core.SystemClock()
		page := accountPage(0, written)
		mirror := func(orgID string) error {
			_, _, err := db.Subscribers().MirrorConsent(context.Background(), orgID, page, now, now)
			return err
		}
		run(b, "new", func(int) error { return mirror(core.NewID()) })
		orgID := core.NewID()
		run(b, "same", func(int) error { return mirror(orgID) })
	})
}

// BenchmarkCommit measures one small write with its commit to disk.
func BenchmarkCommit(b *testing.B) {
	eachBench(b, func(b *testing.B, db *storage.DB) {
		orgID, now := core.NewID(), core.SystemClock()
		run(b, "spend", func(int) error {
			_, err := db.Replay().Spend(context.Background(), orgID, core.NewID(), now)
			return err
		})
	})
}

// BenchmarkOpenExisting opens a database whose schema is up to date, and reads from it.
func BenchmarkOpenExisting(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "data")
	open := func() {
		db, err := storage.Open(b.Context(), storage.Config{Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		if err := db.Migrate(b.Context()); err != nil {
			b.Fatal(err)
		}
		if _, err := db.Orgs().OrgIDs(b.Context()); err != nil {
			b.Fatal(err)
		}
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
	}
	started := time.Now()
	open()
	b.ReportMetric(float64(time.Since(started).Milliseconds()), "ms-first")
	for b.Loop() {
		open()
	}
}
