package load

import (
	"bytes"
	"context"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/domainauth/history"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/domainauth/intake"
	dns "github.com/mailhelm/mailhelm/core/domainauth/lookup"
	"github.com/mailhelm/mailhelm/core/domainauth/sources"
	"github.com/mailhelm/mailhelm/core/domainauth/timeline"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// BenchmarkDMARCReports reads the reports of two years into databases that wait for the disk: 500
// sources, 5,000 files, 230,000 records, and more than 50 million messages. Then it measures every
// read of the API over these years. One iteration of a read is one call.
func BenchmarkDMARCReports(b *testing.B) {
	now := core.SystemClock().Truncate(24 * time.Hour).Add(12 * time.Hour)
	h := history.New(1, history.Large, now)
	for _, engine := range []string{"sqlite", "postgres"} {
		c := storage.Config{Dir: b.TempDir()}
		if engine == "postgres" {
			c.URL = enginetest.DurableServer(b).URL()
		}
		db := storagetest.Open(b, c)
		must(b, db.Migrate(b.Context()))
		d := dmarcReports{db: db, org: core.NewID(), now: now, h: h}
		must(b, db.Orgs().InsertOrg(b.Context(), core.Org{ID: d.org, Name: "Org", Slug: "org", Tier: "team", RetentionDays: 30}))
		must(b, db.DomainAuth().AddDomain(b.Context(), d.org, history.Domain, now))
		b.Run(engine+"/records", d.fill)
		b.Run(engine, d.reads)
	}
}

// dmarcReports is an organization with a domain and its reports.
type dmarcReports struct {
	db   *storage.DB
	org  string
	now  time.Time
	h    *history.History
	took time.Duration
}

// fill reads all files, once.
func (d *dmarcReports) fill(b *testing.B) {
	if d.took == 0 {
		d.readFiles(b)
	}
	b.ReportMetric(float64(d.h.Truth.Records)/d.took.Seconds(), "records/s")
	b.ReportMetric(float64(len(d.h.Files))/d.took.Seconds(), "files/s")
}

func (d *dmarcReports) readFiles(b *testing.B) {
	b.Helper()
	clock := func() time.Time { return d.now }
	senders := dns.NewSenders(d.h.Zone, clock)
	c := intake.Config{
		Store: d.db.DMARCReports(), Transactor: d.db, Clock: clock, Senders: func() *sources.SenderNetworks { return senders.Networks(b.Context()) },
	}
	if d.db.Engine() == "postgres" {
		c.Portion = 10_000 // as mailhelm dmarc import has it
	}
	batch := intake.New(c).Batch()
	begin := time.Now()
	for _, f := range d.h.Files {
		_, err := batch.Add(b.Context(), intake.Target{OrgID: d.org, ReceivedAt: f.ArrivedAt}, func() (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(f.Content)), nil
		})
		must(b, err)
	}
	must(b, batch.Flush(b.Context()))
	d.took = time.Since(begin)
}

// reads calls every operation that reads.
func (d *dmarcReports) reads(b *testing.B) {
	store := d.db.DomainAuth()
	domain, err := store.Domain(b.Context(), d.org, history.Domain)
	must(b, err)
	event := domainauth.Event{ID: core.NewID(), Kind: timeline.Note, OccurredAt: d.now.AddDate(0, 0, -100), ObservedAt: d.now, Title: "Note"}
	must(b, store.InsertEvent(b.Context(), d.org, domain.ID, event, "test"))
	ops := domainauth.New(domainauth.Config{Store: store, Figures: store, Sources: store, Timeline: store}).Operations()
	years := `"domain":"` + history.Domain + `","from":"` + d.h.Begin.Format(time.RFC3339) + `","to":"` + d.h.End.Format(time.RFC3339) + `"`
	for _, read := range []struct{ name, operation, arguments string }{
		{"domains", "domain_auth_domains_list", `{}`},
		{"domain", "domain_auth_domains_get", `{"domain":"` + history.Domain + `"}`},
		{"sources", "domain_auth_sources_list", `{` + years + `,"limit":200}`},
		{"sources-unreviewed", "domain_auth_sources_list", `{` + years + `,"classification":"unknown","decision":"unreviewed"}`},
		{"readiness", "domain_auth_readiness_get", `{"domain":"` + history.Domain + `"}`},
		{"timeseries", "domain_auth_timeseries_get", `{` + years + `}`},
		{"timeline", "domain_auth_timeline_list", `{"domain":"` + history.Domain + `"}`},
		{"comparison", "domain_auth_comparison_get", `{"domain":"` + history.Domain + `","annotation_id":"` + event.ID + `","window_days":30}`},
	} {
		op := ops[slices.IndexFunc(ops, func(o core.Operation) bool { return o.Info().Name == read.operation })]
		b.Run(read.name, func(b *testing.B) {
			in, err := op.Decode(core.REST, []byte(read.arguments))
			must(b, err)
			var slowest time.Duration
			for b.Loop() {
				begin := time.Now()
				must(b, d.call(b.Context(), op, in))
				slowest = max(slowest, time.Since(begin))
			}
			b.ReportMetric(float64(slowest.Microseconds())/1000, "slowest-ms")
		})
	}
}

func (d *dmarcReports) call(ctx context.Context, op core.Operation, in any) error {
	c := &core.Call{Principal: core.Principal{Org: core.Org{ID: d.org}}, Surface: core.REST, Now: d.now}
	defer c.Finish()
	_, err := op.Do(ctx, c, in)
	return err
}
