package intake_test

import (
	"fmt"
	"testing"

	"github.com/mailhelm/mailhelm/core/domainauth/intake"
	"github.com/mailhelm/mailhelm/core/domainauth/report"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// BenchmarkRead reads reports of 20,000 records, and of 20, into a database.
func BenchmarkRead(b *testing.B) {
	for engine, open := range map[string]func(testing.TB) *storage.DB{"sqlite": storagetest.SQLite, "postgres": storagetest.Postgres} {
		for _, size := range []int{20_000, 20} {
			b.Run(fmt.Sprintf("%s/%d", engine, size), func(b *testing.B) {
				w := setup(b, open(b))
				records := make([]report.Record, size)
				for i := range records {
					records[i] = record(fmt.Sprintf("198.51.%d.%d", i%100, i%250), uint64(1+i%9), "none", i%3 == 0, i%2 == 0)
				}
				batch := w.reader.Batch()
				n := 0
				for b.Loop() {
					n++
					of := about(domain, "receiver.example", fmt.Sprint(n), 1+n%60, records...)
					if _, err := batch.Add(b.Context(), intake.Target{OrgID: org, Addressed: domain, ReceivedAt: now}, of.open); err != nil {
						b.Fatal(err)
					}
				}
				if err := batch.Flush(b.Context()); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(n*size)/b.Elapsed().Seconds(), "records/s")
			})
		}
	}
}
