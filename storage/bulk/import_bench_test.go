package bulk_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/bulk"
	"github.com/mailhelm/mailhelm/core/consent"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/storage"
	bulkstore "github.com/mailhelm/mailhelm/storage/bulk"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

const (
	importedContacts = 100_000
	importedAtOnce   = bulk.MaxRows
	importChunk      = 1000
)

// BenchmarkImport imports 100,000 contacts with five attributes, as `mailhelm import
// contacts` does after reading the file. It compares the import with LoadBare, which runs
// the same writing statements in the same transactions with prepared parameters.
func BenchmarkImport(b *testing.B) {
	bench := func(b *testing.B, db *storage.DB) {
		b.Run("product", func(b *testing.B) {
			for b.Loop() {
				orgID, people := importOrg(b, db), importing(db)
				var most uint64
				timed(b, func() {
					for from := 0; from < importedContacts; from += importedAtOnce {
						items, err := people.Import(b.Context(), orgID, consent.ByCommand, core.NewID(), importRows(from, importedAtOnce))
						if err != nil || len(items) != importedAtOnce || items[0].Status != bulk.ItemCreated {
							b.Fatal(err, len(items))
						}
						var m runtime.MemStats
						runtime.ReadMemStats(&m)
						most = max(most, m.HeapInuse)
					}
				})
				b.ReportMetric(float64(most)/(1<<20), "MB-heap")
			}
		})
		b.Run("bare", func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				orgID := importOrg(b, db)
				writes := make([][]bulkstore.BareChunk, 0, importedContacts/importedAtOnce)
				for from := 0; from < importedContacts; from += importedAtOnce {
					writes = append(writes, bareChunks(b, db, orgID, from, importedAtOnce))
				}
				b.StartTimer()
				timed(b, func() {
					for _, chunks := range writes {
						if err := bulkstore.LoadBare(b.Context(), db.DB, orgID, core.NewID(), chunks, core.SystemClock()); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		})
	}
	b.Run("sqlite", func(b *testing.B) { bench(b, storagetest.SQLite(b)) })
	b.Run("postgres", func(b *testing.B) { bench(b, storagetest.Postgres(b)) })
}

// processorTime returns the processor time of this process, without that of PostgreSQL. On
// a busy machine it is more reliable than elapsed time.
func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// importing returns a bulk.Bulk on the database. Like the server, it queues changed
// contacts for the evaluation of segments.
func importing(db *storage.DB) *bulk.Bulk {
	return bulk.New(bulk.Config{
		Store: bulkstore.NewJobStore(db.DB), Contacts: bulkstore.NewContactStore(db.DB), Attributes: db.Attributes(), Topics: db.Topics(), Lists: lists.New(lists.Config{Store: db.Lists(), Members: db.ListMembers(), Clock: core.SystemClock}), Transactor: db, Clock: core.SystemClock, Log: slog.New(slog.DiscardHandler),
		OnChange: segments.New(segments.Config{Changes: db.SegmentChanges()}).ObserveChange,
	})
}

func timed(b *testing.B, f func()) {
	b.Helper()
	started, spent := time.Now(), processorTime()
	f()
	b.ReportMetric(float64((processorTime()-spent).Nanoseconds())/1000/importedContacts, "own-cpu-µs/row")
	b.ReportMetric(importedContacts/time.Since(started).Seconds(), "rows/s")
}

// importOrg makes the id of a new organization. It stores the attribute definitions that
// the imported rows need under this id, and returns the id.
func importOrg(tb testing.TB, db *storage.DB) string {
	tb.Helper()
	orgID, now := core.NewID(), core.SystemClock()
	for _, of := range []struct {
		name string
		kind attributes.Type
	}{
		{"plan", attributes.String},
		{"city", attributes.String},
		{"mrr", attributes.Number},
		{"vip", attributes.Bool},
		{"signed_up", attributes.Datetime},
	} {
		a := attributes.Attribute{ID: core.NewID(), Name: of.name, Type: of.kind, Origin: core.ManagedOrigin, CreatedAt: now, UpdatedAt: now}
		if err := db.Attributes().InsertAttribute(tb.Context(), orgID, a); err != nil {
			tb.Fatal(err)
		}
	}
	return orgID
}

// importRows returns size JSON rows as they come from a CSV file, with every attribute
// value as text. Contacts are numbered from the given number on.
func importRows(from, size int) []json.RawMessage {
	rows := make([]json.RawMessage, size)
	for i := range rows {
		n := from + i
		rows[i] = fmt.Appendf(nil, `{"email":"person%d@example.com","external_id":"crm-%d","attributes":{"plan":"pro","city":"Rome","mrr":"%d.5","vip":"true","signed_up":"2026-01-02"}}`, n, n, n%1000)
	}
	return rows
}

// bareChunks converts the rows of importRows to chunks of the same size as in a bulk write.
func bareChunks(tb testing.TB, db *storage.DB, orgID string, from, size int) []bulkstore.BareChunk {
	tb.Helper()
	var chunks []bulkstore.BareChunk
	rows, now, mailable := importRows(from, size), core.SystemClock(), true
	for first := 0; first < len(rows); first += importChunk {
		var all []contacts.Contact
		var outcomes []bulk.Item
		for i := range min(importChunk, len(rows)-first) {
			n := from + first + i
			externalID := fmt.Sprintf("crm-%d", n)
			c := contacts.Contact{
				ID: core.NewID(), Email: fmt.Sprintf("person%d@example.com", n), ExternalID: &externalID, Status: contacts.Active,
				Attributes: map[string]any{"plan": "pro", "city": "Rome", "mrr": float64(n%1000) + 0.5, "vip": true, "signed_up": "2026-01-02T00:00:00Z"},
				CreatedAt:  now, UpdatedAt: now,
			}
			all = append(all, c)
			outcomes = append(outcomes, bulk.Item{
				Index: first + i, Status: bulk.ItemCreated, ContactID: c.ID, Email: c.Email, ExternalID: &externalID, Mailable: &mailable,
			})
		}
		chunk, err := bulkstore.NewBareChunk(tb.Context(), db.DB, orgID, first, rows[first:first+len(all)], all, outcomes)
		if err != nil {
			tb.Fatal(err)
		}
		chunks = append(chunks, chunk)
	}
	return chunks
}
