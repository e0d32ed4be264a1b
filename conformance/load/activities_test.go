package load

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// knownPeople is the number of different contacts that the measured activities name.
const knownPeople = 20_000

// BenchmarkActivities measures POST /v1/activities in batches of 1, 100 and 1,000
// activities. An activity has the address of a contact and about 120 bytes of properties.
// With keys=true it also has an idempotency key. One iteration takes three seconds.
// Allocations include those of the client, which runs in the same process.
func BenchmarkActivities(b *testing.B) {
	for _, engine := range []string{"sqlite", "postgres"} {
		p := product.Start(b, product.Options{Postgres: engine == "postgres", ActivitiesPerMinute: 1 << 30})
		var sent atomic.Int64
		for _, batch := range []int{1, 100, 1000} {
			for _, keys := range []bool{false, true} {
				b.Run(fmt.Sprintf("%s/batch=%d/keys=%v", engine, batch, keys), func(b *testing.B) {
					takeIn(b, p, batch, keys, &sent)
				})
			}
		}
	}
}

func takeIn(b *testing.B, p *product.Product, batch int, keys bool, sent *atomic.Int64) {
	b.Helper()
	c := client()
	defer c.CloseIdleConnections()
	write := target{"activities", func() (*http.Request, error) {
		from := sent.Add(int64(batch)) - int64(batch)
		r, err := http.NewRequest(http.MethodPost, p.BaseURL+"/v1/activities", strings.NewReader(items(from, batch, keys)))
		if err == nil {
			r.Header.Set("Authorization", "Bearer "+p.Live.APIKey)
			r.Header.Set("Content-Type", "application/json")
		}
		return r, err
	}}
	drive(b, c, write, turn/2)
	b.ResetTimer()
	for range b.N {
		var ts turns
		for range 3 {
			ts.add(b, c, write)
		}
		calls := float64(len(ts.latencies))
		b.ReportMetric(median(ts.rates)*float64(batch), "items/s")
		b.ReportMetric(float64(ts.allocated[0])/calls/float64(batch), "objects/item")
		b.ReportMetric(float64(ts.allocated[1])/calls/float64(batch), "bytes/item")
	}
}

// items returns a request body with a JSON array of n activities. Each activity has a
// different number in its properties; the first number is the parameter from. If keys is
// true, each activity has an idempotency key.
func items(from int64, n int, keys bool) string {
	var body strings.Builder
	for i := range int64(n) {
		fmt.Fprintf(&body, `,{"name":"purchase","email":"p%d@example.com","occurred_at":"2026-01-%02dT10:00:00Z","properties":{"order":"A-%d","amount":12.50,"currency":"EUR","items":[{"sku":"S-1","n":2},{"sku":"S-2","n":1}]}`,
			(from+i)*7919%knownPeople, 1+(from+i)%28, from+i)
		if keys {
			fmt.Fprintf(&body, `,"idempotency_key":"order-%d"`, from+i)
		}
		body.WriteByte('}')
	}
	return "[" + body.String()[1:] + "]"
}

// BenchmarkActivityPages measures reads of 51 activities from a table of 200,000. It reads
// the newest ("first"), and those that follow after half of the table ("deep"). The filter
// is none, a name or a contact. PostgreSQL is measured without statistics of the table
// ("postgres-uncounted"), and then again after the command ANALYZE. Autovacuum runs ANALYZE
// only about a minute after the inserts, so a product's table lacks statistics until then.
func BenchmarkActivityPages(b *testing.B) {
	pages := activityPages{org: core.NewID(), contact: core.NewID(), start: time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC)}
	db := storagetest.SQLite(b)
	pages.fill(b, db)
	b.Run("sqlite", func(b *testing.B) { pages.read(b, db) })

	address := enginetest.PostgresURL(b)
	db = storagetest.Open(b, storage.Config{URL: address, MaxConns: 2})
	pages.fill(b, db)
	b.Run("postgres-uncounted", func(b *testing.B) { pages.read(b, db) })
	server := openDatabase(b, address)
	defer func() { _ = server.Close() }()
	if _, err := server.ExecContext(b.Context(), "ANALYZE activities"); err != nil {
		b.Fatal(err)
	}
	b.Run("postgres", func(b *testing.B) { pages.read(b, db) })
}

const pagedActivities = 200_000

type activityPages struct {
	org, contact string
	start        time.Time
}

func (p activityPages) fill(b *testing.B, db *storage.DB) {
	b.Helper()
	for from := 0; from < pagedActivities; from += 10_000 {
		fill(b, db, p.org, p.contact, p.start, from, 10_000)
	}
}

func (p activityPages) read(b *testing.B, db *storage.DB) {
	b.Helper()
	middle := &core.After{At: p.start.Add(pagedActivities / 2 * time.Second), ID: "~"}
	for name, filter := range map[string]activities.Filter{"all": {}, "name": {Name: "name-1"}, "contact": {ContactID: p.contact}} {
		for depth, after := range map[string]*core.After{"first": nil, "deep": middle} {
			filter.After, filter.Limit = after, 51
			b.Run(name+"/"+depth, func(b *testing.B) {
				for b.Loop() {
					if page, err := db.Activities().Activities(b.Context(), p.org, filter); err != nil || len(page) != 51 {
						b.Fatal(len(page), err)
					}
				}
			})
		}
	}
}

// fill inserts n activities with three different names, one second apart. The time of the
// first is start plus the number of seconds in the parameter from. Every tenth belongs to
// the given contact, and each of the others to a contact of its own.
func fill(b *testing.B, db *storage.DB, org, contact string, start time.Time, from, n int) {
	b.Helper()
	rows := make([]activities.Activity, n)
	for i := range rows {
		at := start.Add(time.Duration(from+i) * time.Second)
		rows[i] = activities.Activity{
			ID: core.NewID(), ContactID: core.NewID(), Name: fmt.Sprintf("name-%d", i%3), OccurredAt: at, ReceivedAt: at,
			Source: activities.FromAPI, Properties: []byte(`{"amount":12.50}`),
		}
		if i%10 == 0 {
			rows[i].ContactID = contact
		}
	}
	if err := db.Activities().Insert(b.Context(), org, rows); err != nil {
		b.Fatal(err)
	}
}
