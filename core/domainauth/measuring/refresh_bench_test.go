package measuring_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// BenchmarkRefresh refreshes a domain with two years of reports: 500 sources on each day, 20
// reports a day, a poll each hour. conformance/load/RESULTS.md has the figures.
func BenchmarkRefresh(b *testing.B) {
	for name, open := range map[string]func(testing.TB) *storage.DB{"sqlite": storagetest.SQLite, "postgres": storagetest.Postgres} {
		b.Run(name, func(b *testing.B) {
			w := newWorld(b, open(b))
			w.fillTwoYears()
			b.ResetTimer()
			for b.Loop() {
				w.Advance(time.Second)
				w.refresh()
			}
			b.StopTimer()
			if len(w.findings()) == 0 || len(w.events()) == 0 {
				b.Error("nothing was found")
			}
		})
	}
}

const (
	benchDays    = 730
	benchSources = 500
)

// fillTwoYears adds figures, reports and runs of two years.
func (w *world) fillTwoYears() {
	w.t.Helper()
	id := w.id()
	var sources []string
	for i := range benchSources {
		sources = append(sources, w.addSource(fmt.Sprintf("sender/s%d.example", i), []string{"own", "authorised", "unknown", "spoofing", "forwarder"}[i%5]))
	}
	const zeros = `0, 0, 0, 0, 0, 0, 0, 0, 0, 0`
	w.execEach(benchDays*benchSources, `INSERT INTO domainauth_daily (org_id, domain_id, day, source, none_both, none_dkim, none_spf, none_fail, none_relayed,
			quarantine_both, quarantine_dkim, quarantine_spf, quarantine_fail, quarantine_relayed, reject_both, reject_dkim, reject_spf, reject_fail, reject_relayed)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, `+zeros+`)`, func(i int) []any {
		at, source := i/benchSources, i%benchSources
		failed := 0
		if (at/40+source)%3 == 0 {
			failed = 30
		}
		return []any{w.org, id, day(at - benchDays), sources[source], 100, 10, 10, failed, 0}
	})
	w.execEach(benchDays, `INSERT INTO domainauth_totals (org_id, domain_id, day, none_both, none_dkim, none_spf, none_fail, none_relayed,
			quarantine_both, quarantine_dkim, quarantine_spf, quarantine_fail, quarantine_relayed, reject_both, reject_dkim, reject_spf, reject_fail, reject_relayed)
		VALUES ($1, $2, $3, 1, 1, 1, 1, 1, `+zeros+`)`, func(i int) []any { return []any{w.org, id, day(i - benchDays)} })
	policies := []string{"v=DMARC1; p=none", "v=DMARC1; p=quarantine", "v=DMARC1; p=reject"}
	w.execEach(20*benchDays, `INSERT INTO domainauth_reports (org_id, id, domain_id, file_id, identity, reporter, organization, report_id, begins_at, ends_at, day, policy,
			state, records, messages, passing, warnings, received_at)
		VALUES ($1, $2, $3, 'f', $2, $4, '', '', $5, $6, $7, $8, 'counted', 0, 0, 0, '[]', $9)`, func(i int) []any {
		at := i / 20
		begin := start.AddDate(0, 0, at-benchDays)
		end := begin.Add(24 * time.Hour)
		return []any{w.org, fmt.Sprint("report ", i), id, fmt.Sprintf("r%d.example", i%20), micro(begin), micro(end), day(at - benchDays), policies[at*3/benchDays], micro(end.Add(time.Hour))}
	})
	w.execEach(3, `INSERT INTO domainauth_records (org_id, domain_id, subject, first_seen_at, last_seen_at, kind, text) VALUES ($1, $2, $3, $4, $5, 'policy_change', $6)`,
		func(i int) []any {
			first := start.AddDate(0, 0, (i-3)*benchDays/3)
			return []any{w.org, id, policyName, micro(first), micro(first.AddDate(0, 0, benchDays/3).Add(-time.Hour)), policies[i]}
		})
	if w.db.Engine() == "postgres" {
		w.exec(`ANALYZE`)
	}
}

// BenchmarkPoll looks at a domain in memory and stores what it found.
func BenchmarkPoll(b *testing.B) {
	for name, open := range map[string]func(testing.TB) *storage.DB{"sqlite": storagetest.SQLite, "postgres": storagetest.Postgres} {
		b.Run(name, func(b *testing.B) {
			w := newWorld(b, open(b))
			w.zone.AddTXT(policyName, none)
			w.zone.AddTXT(domainName, "v=spf1 include:spf.mailer.example -all")
			w.zone.AddTXT("spf.mailer.example", "v=spf1 ip4:192.0.2.0/24 -all")
			w.poll()
			for b.Loop() {
				w.Advance(w.measureAt().Sub(w.Now()))
				w.poll()
			}
		})
	}
}
