package scale

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
)

// BenchmarkCalls measures the processor time of calls on PostgreSQL. That of the server includes
// the client, which runs in the same process. That of the database is of its backends, without
// its background writers. The metrics are for one contact or activity.
func BenchmarkCalls(b *testing.B) {
	p := product.Start(b, product.Options{Postgres: true, ActivitiesPerMinute: 1 << 30})
	for i := range people {
		body := fmt.Sprintf(`{"email":%q}`, addressOf(i))
		if a := p.Send(b, product.Request{Method: http.MethodPost, URL: p.BaseURL + "/v1/contacts", Bearer: p.Live.APIKey, Body: body}); a.Status != http.StatusCreated {
			b.Fatal(a.Status, a.Body)
		}
	}
	for _, c := range []call{
		{Contact, 1, func(i int) product.Request {
			return product.Request{Method: http.MethodPut, URL: p.BaseURL + "/v1/contacts/" + addressOf(i%people), Body: fmt.Sprintf(`{"attributes":{"first_name":"Ada %d"}}`, i)}
		}},
		{Read, 1, func(i int) product.Request {
			return product.Request{URL: p.BaseURL + "/v1/contacts/" + addressOf(i%people)}
		}},
		{Activity, people, func(i int) product.Request {
			items := make([]string, people)
			for k := range items {
				items[k] = fmt.Sprintf(`{"name":"order_completed","email":%q,"occurred_at":"2026-01-02T10:00:00Z","properties":{"amount":%d,"currency":"EUR","sku":"A-1"}}`, addressOf(k), i)
			}
			return product.Request{Method: http.MethodPost, URL: p.BaseURL + "/v1/activities", Body: "[" + strings.Join(items, ",") + "]"}
		}},
	} {
		b.Run(strings.ReplaceAll(c.unit, " ", "-"), func(b *testing.B) { measureCalls(b, p, c) })
	}
}

// call is a call about a number of units. i numbers the calls.
type call struct {
	unit  string
	units int
	send  func(i int) product.Request
}

func addressOf(i int) string { return fmt.Sprintf("person.%010d@example.com", i*2654435761%(1<<32)) }

func measureCalls(b *testing.B, p *product.Product, c call) {
	b.Helper()
	sent := 0
	send := func() {
		r := c.send(sent)
		sent++
		r.Bearer = p.Live.APIKey
		if a := p.Send(b, r); a.Status >= http.StatusBadRequest || strings.Contains(a.Body, `"invalid"`) {
			b.Fatal(a.Status, a.Body)
		}
	}
	const first = 20 // prepare statements and fill caches
	for range first {
		send()
	}
	server, database := ownTime(), backendTime(b, p)
	b.ResetTimer()
	for range b.N {
		send()
	}
	b.StopTimer()
	units := float64(b.N * c.units)
	b.ReportMetric(float64((ownTime()-server).Microseconds())/units, "server-µs")
	b.ReportMetric(float64((backendTime(b, p)-database).Microseconds())/units, "database-µs")
}

// people is the number of contacts that the calls are about, and of activities in a request.
const people = 100

// ownTime returns the processor time of this process.
func ownTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// backendTime returns the processor time of PostgreSQL's processes for the product's database.
// It needs Linux.
func backendTime(b *testing.B, p *product.Product) time.Duration {
	b.Helper()
	rows, err := p.DB.Reader().QueryContext(b.Context(), `SELECT pid FROM pg_stat_activity WHERE datname = current_database()`)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = rows.Close() }() // rows.Err reports the errors
	var all time.Duration
	for rows.Next() {
		var pid int
		if err := rows.Scan(&pid); err != nil {
			b.Fatal(err)
		}
		all += processTime(b, pid)
	}
	if err := rows.Err(); err != nil {
		b.Fatal(err)
	}
	return all
}

// processTime returns the processor time of a process: the fields utime and stime of proc(5).
func processTime(b *testing.B, pid int) time.Duration {
	b.Helper()
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		b.Fatal(err)
	}
	const tick = 10 * time.Millisecond
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	var all time.Duration
	for _, field := range fields[11:13] {
		ticks, err := strconv.Atoi(field)
		if err != nil {
			b.Fatal(err)
		}
		all += time.Duration(ticks) * tick
	}
	return all
}
