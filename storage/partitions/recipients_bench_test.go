package partitions_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// BenchmarkRecipients times what happens to the recipients of a broadcast, in a table that is
// divided into 14 partitions and in one that is not. The table has 1,000,000 others. There are
// enough recipients for -benchtime 150x.
func BenchmarkRecipients(b *testing.B) {
	for _, divided := range []bool{false, true} {
		for _, pooled := range []bool{false, true} {
			b.Run(fmt.Sprintf("divided=%t/pgbouncer=%t", divided, pooled), func(b *testing.B) { benchmarkRecipients(b, divided, pooled) })
		}
	}
}

func benchmarkRecipients(b *testing.B, divided, pooled bool) {
	url := enginetest.PostgresURL(b)
	config := storage.Config{URL: url, CallerWait: time.Minute, Logger: slog.New(slog.DiscardHandler)}
	if pooled {
		config.URL, config.DirectURL = enginetest.PgBouncer(b, url, enginetest.PgBouncerConfig{}).URL(url), url
	}
	db := storagetest.Open(b, config)
	f := fixture{TB: b, db: db, keeper: db.Partitions()}
	f.undivide("handover_recipients")
	if divided {
		_, err := f.keeper.Move(b.Context(), "handover_recipients", now)
		f.must(err)
		_, err = f.keeper.MakeAhead(b.Context(), "handover_recipients", now.AddDate(0, 12, 0))
		f.must(err)
	}
	f.exec(fmt.Sprintf(`INSERT INTO handover_recipients (org_id, send_id, recipient, email, state, attempt, claimed_by, changed_at, not_before, message_id, reason, tier, created_at)
		SELECT 'org', 'send' || i %% 100, 'recipient' || i, 'a@x', 'sent', 1, '', 1, 1, 'm', '', '', %d + CAST(i AS bigint) * 26000000 FROM generate_series(1, 1000000) AS i`, now.AddDate(0, 2, 0).UnixMicro()),
		"ANALYZE handover_recipients")
	store, at := db.Handover(), now.AddDate(0, 11, 0)
	const size = 10_000
	all := make([]handover.Recipient, size)
	for i := range all {
		all[i] = handover.Recipient{Key: fmt.Sprint("key", i), Email: "a@x.example"}
	}
	f.must(store.Add(b.Context(), "org", "mine", all, at))
	took := map[string]time.Duration{}
	step := func(name string, do func() error) {
		began := time.Now()
		f.must(do())
		took[name] += time.Since(began)
	}
	for b.Loop() {
		due, err := store.Pending(b.Context(), "org", "mine", at, 50)
		if f.must(err); len(due) == 0 {
			b.Fatal("no recipient is left: run the benchmark with -benchtime 150x")
		}
		answers, seen := make([]handover.Answer, len(due)), make([]handover.Evidence, 2*len(due))
		for i, r := range due {
			answers[i] = handover.Answer{Key: r.Key, CreatedAt: r.CreatedAt, Attempt: 1, Verdict: handover.Accepted, MessageID: "m"}
			seen[2*i] = handover.Evidence{SendID: "mine", Key: r.Key, MessageID: "m"}
			seen[2*i+1] = seen[2*i]
		}
		step("ms-of-50-claims", func() error { return store.Claim(b.Context(), "org", "mine", due, "process", at) })
		step("ms-of-50-answers", func() error { return store.Answer(b.Context(), "org", "mine", answers, at) })
		step("ms-of-100-events", func() error { _, err := store.Observe(b.Context(), "org", seen, at); return err })
		step("ms-of-a-count", func() error { _, err := db.Outcomes().Counts(b.Context(), "org", "mine"); return err })
	}
	for name, d := range took {
		b.ReportMetric(float64(d.Microseconds())/1000/float64(b.N), name)
	}
}
