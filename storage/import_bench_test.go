package storage_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/audience"
	"github.com/mailhelm/mailhelm/storage"
)

const (
	importedContacts = 100_000
	importedAtOnce   = audience.MaxBulkRows
	importChunk      = 1000
)

// BenchmarkImport brings in 100,000 contacts with five attributes, as `mailhelm
// import contacts` does once it has read the file, and beside it the bare loader:
// what the import writes by the same statements in the same transactions, with
// parameters that are ready.
func BenchmarkImport(b *testing.B) {
	eachBench(b, func(b *testing.B, db *storage.DB) {
		b.Run("product", func(b *testing.B) {
			for b.Loop() {
				orgID := importOrg(b, db)
				people := audience.New(audience.Config{
					Store: db.Audience(), Transactor: db, Clock: core.SystemClock, Log: slog.New(slog.DiscardHandler),
				})
				var most uint64
				timed(b, func() {
					for from := 0; from < importedContacts; from += importedAtOnce {
						items, err := people.Import(b.Context(), orgID, core.NewID(), importRows(from))
						if err != nil || len(items) != importedAtOnce || items[0].Status != audience.ItemCreated {
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
				writes := make([][]storage.BareChunk, 0, importedContacts/importedAtOnce)
				for from := 0; from < importedContacts; from += importedAtOnce {
					writes = append(writes, bareChunks(b, from))
				}
				b.StartTimer()
				timed(b, func() {
					for _, chunks := range writes {
						if err := db.LoadBare(b.Context(), orgID, core.NewID(), chunks, core.SystemClock()); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		})
	})
}

func timed(b *testing.B, f func()) {
	b.Helper()
	started, spent := time.Now(), processorTime()
	f()
	b.ReportMetric(float64((processorTime()-spent).Nanoseconds())/1000/importedContacts, "own-cpu-µs/row")
	b.ReportMetric(importedContacts/time.Since(started).Seconds(), "rows/s")
}

// importOrg is an organization with the attributes of the rows.
func importOrg(b *testing.B, db *storage.DB) string {
	b.Helper()
	orgID, now := core.NewID(), core.SystemClock()
	for name, kind := range map[string]audience.AttributeType{
		"plan": audience.StringAttribute, "city": audience.StringAttribute, "mrr": audience.NumberAttribute,
		"vip": audience.BoolAttribute, "signed_up": audience.DatetimeAttribute,
	} {
		a := audience.Attribute{ID: core.NewID(), Name: name, Type: kind, Origin: audience.Managed, CreatedAt: now, UpdatedAt: now}
		if err := db.Audience().InsertAttribute(b.Context(), orgID, a); err != nil {
			b.Fatal(err)
		}
	}
	return orgID
}

// importRows are as a file's rows come: every value is a text.
func importRows(from int) []json.RawMessage {
	rows := make([]json.RawMessage, importedAtOnce)
	for i := range rows {
		n := from + i
		rows[i] = fmt.Appendf(nil, `{"email":"person%d@example.com","external_id":"crm-%d","attributes":{"plan":"pro","city":"Rome","mrr":"%d.5","vip":"true","signed_up":"2026-01-02"}}`, n, n, n%1000)
	}
	return rows
}

func bareChunks(b *testing.B, from int) []storage.BareChunk {
	b.Helper()
	var chunks []storage.BareChunk
	rows, now := importRows(from), core.SystemClock()
	for first := 0; first < len(rows); first += importChunk {
		var contacts []audience.Contact
		var outcomes []audience.BulkItem
		for i := range importChunk {
			n := from + first + i
			externalID := fmt.Sprintf("crm-%d", n)
			c := audience.Contact{
				ID: core.NewID(), Email: fmt.Sprintf("person%d@example.com", n), ExternalID: &externalID, CreatedAt: now, UpdatedAt: now,
				Attributes: map[string]any{"plan": "pro", "city": "Rome", "mrr": float64(n%1000) + 0.5, "vip": true, "signed_up": "2026-01-02T00:00:00Z"},
			}
			contacts = append(contacts, c)
			outcomes = append(outcomes, audience.BulkItem{
				Index: first + i, Status: audience.ItemCreated, ContactID: c.ID, Email: c.Email, ExternalID: &externalID,
			})
		}
		chunk, err := storage.NewBareChunk(rows[first:first+importChunk], contacts, outcomes)
		if err != nil {
			b.Fatal(err)
		}
		chunks = append(chunks, chunk)
	}
	return chunks
}
