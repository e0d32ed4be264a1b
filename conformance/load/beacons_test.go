package load

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/visitorids"
)

const (
	siteVisitors = 10_000
	// beaconConnections is the number of connections of the clients. Visitors have one each.
	beaconConnections = 32
	// beaconTime is how long each kind of load lasts.
	beaconTime = 10 * time.Second
	// beaconPace is the number of beacons a second of the paced load.
	beaconPace = 10_000
)

// BenchmarkBeacons measures POST /s/visit on PostgreSQL: beacons of 10,000 visitors, half of
// them visits of new sessions and half events. "paced" sends 10,000 a second for ten seconds,
// "full" as many as the clients can. written/s counts until the queue is empty, so it is what
// the database takes; dropped beacons found the queue full. "bare" is a net/http handler that
// reads the body and answers 204. The clients run in the same process and write prepared
// requests to keep-alive connections.
func BenchmarkBeacons(b *testing.B) {
	p := product.Start(b, product.Options{Postgres: true, TrustedProxies: []string{"127.0.0.0/8"}})
	s := newBeaconSite(b, p)
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body bytes.Buffer
		_, _ = body.ReadFrom(r.Body)
		w.WriteHeader(http.StatusNoContent)
	}))
	defer bare.Close()
	address := strings.TrimPrefix(p.BaseURL, "http://")
	s.load(b, address, 0, time.Second) // warm statements and connections
	s.awaitWritten(b)
	b.ResetTimer()
	for range b.N {
		before := s.outcomes(b)
		started := time.Now()
		paced := s.load(b, address, beaconPace, beaconTime)
		s.awaitWritten(b)
		after := s.outcomes(b)
		paced.report(b, "paced")
		b.ReportMetric((after["written"]-before["written"])/time.Since(started).Seconds(), "paced-written/s")
		b.ReportMetric(after["queue_full"]-before["queue_full"], "paced-dropped")

		started = time.Now()
		full := s.load(b, address, 0, beaconTime)
		s.awaitWritten(b)
		last := s.outcomes(b)
		full.report(b, "full")
		b.ReportMetric((last["written"]-after["written"])/time.Since(started).Seconds(), "full-written/s")
		b.ReportMetric(last["queue_full"]-after["queue_full"], "full-dropped")

		alone := s.load(b, strings.TrimPrefix(bare.URL, "http://"), 0, beaconTime)
		alone.report(b, "bare")
		b.ReportMetric(full.rate/alone.rate, "x-bare")
	}
}

// beaconSite is the website of the measured organization.
type beaconSite struct {
	p        *product.Product
	key      string
	visitors []string
	sent     atomic.Int64
}

// newBeaconSite creates a site key and contacts with visitor ids.
func newBeaconSite(b *testing.B, p *product.Product) *beaconSite {
	b.Helper()
	key, err := p.Site.Settings.Create(b.Context(), p.OrgID)
	if err != nil {
		b.Fatal(err)
	}
	p.Site.Changed(b.Context())
	s := &beaconSite{p: p, key: key.Value}
	now := p.Clock.Now()
	for i := range siteVisitors {
		c := contacts.Contact{ID: core.NewID(), Email: fmt.Sprintf("visitor%d@example.com", i), Attributes: map[string]any{}, CreatedAt: now, UpdatedAt: now}
		if err := p.DB.Contacts().InsertContact(b.Context(), p.OrgID, c); err != nil {
			b.Fatal(err)
		}
		id := fmt.Sprintf("vis_%026d", i)
		hash := visitorids.HashOf(id)
		if err := p.DB.VisitorIDs().InsertVisitorID(b.Context(), p.OrgID, visitorids.Record{ContactID: c.ID, Hash: hash[:], Sealed: []byte("x"), IssuedAt: now}); err != nil {
			b.Fatal(err)
		}
		s.visitors = append(s.visitors, id)
	}
	return s
}

// beacons has the results of a load.
type beacons struct {
	rate      float64
	latencies []time.Duration // sorted
	answers   []time.Duration // sorted; from sending a request to its answer
}

func (r beacons) report(b *testing.B, name string) {
	b.Helper()
	b.ReportMetric(r.rate, name+"/s")
	b.ReportMetric(float64(r.latencies[len(r.latencies)/2].Microseconds()), name+"-p50-µs")
	b.ReportMetric(float64(r.latencies[len(r.latencies)*99/100].Microseconds()), name+"-p99-µs")
	b.ReportMetric(float64(r.answers[len(r.answers)*99/100].Microseconds()), name+"-answer-p99-µs")
}

// load sends beacons to host:port for a time. A pace above 0 is the number of beacons a
// second. The latency of a paced beacon counts from the time at which it was due, so a slow
// answer delays no measurement.
func (s *beaconSite) load(b *testing.B, address string, pace int, d time.Duration) beacons {
	b.Helper()
	var wait sync.WaitGroup
	latencies, answers, failures := make([][]time.Duration, beaconConnections), make([][]time.Duration, beaconConnections), make([]error, beaconConnections)
	started := time.Now()
	for w := range beaconConnections {
		wait.Go(func() {
			latencies[w], answers[w], failures[w] = s.connect(address, w, pace, started, d)
		})
	}
	wait.Wait()
	took := time.Since(started)
	all, answered := slices.Concat(latencies...), slices.Concat(answers...)
	for _, err := range failures {
		if err != nil {
			b.Fatal(err)
		}
	}
	slices.Sort(all)
	slices.Sort(answered)
	return beacons{float64(len(all)) / took.Seconds(), all, answered}
}

// connect sends beacons over one connection.
func (s *beaconSite) connect(address string, worker, pace int, started time.Time, d time.Duration) (latencies, answers []time.Duration, err error) { //nolint:nonamedreturns // says which
	connection, err := net.Dial("tcp", address) //nolint:noctx // a benchmark has no deadline
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = connection.Close() }()
	reader := bufio.NewReader(connection)
	var request []byte
	for i := 0; ; i++ {
		began := time.Now()
		if pace > 0 {
			due := started.Add(time.Duration(i*beaconConnections+worker) * time.Second / time.Duration(pace))
			time.Sleep(time.Until(due)) //nolint:forbidigo // the pace of the beacons
			began = due
		}
		if time.Since(started) > d {
			return latencies, answers, nil
		}
		request = s.appendRequest(request[:0], address)
		wrote := time.Now()
		if _, err := connection.Write(request); err != nil {
			return nil, nil, err
		}
		if err := readNoContent(reader); err != nil {
			return nil, nil, err
		}
		latencies, answers = append(latencies, time.Since(began)), append(answers, time.Since(wrote))
	}
}

// appendRequest appends the next request. Every request has a client address of 60,000.
func (s *beaconSite) appendRequest(b []byte, host string) []byte {
	n := s.sent.Add(1)
	name := "site_visit"
	if n/siteVisitors%2 == 0 {
		name = "site_product_viewed"
	}
	body := fmt.Sprintf(`{"site_key":%q,"visitor_id":%q,"session_id":"session-%d","event_id":"event-%d","name":%q,"path":"/products/%d","referrer":"https://www.example.com/","title":"A product","utm_source":"newsletter","properties":{"price":12.5,"currency":"EUR"}}`,
		s.key, s.visitors[n*7919%siteVisitors], n, n, name, n%500)
	address := n % 60_000
	return fmt.Appendf(b, "POST /s/visit HTTP/1.1\r\nHost: %s\r\nX-Forwarded-For: 198.18.%d.%d\r\nContent-Type: text/plain;charset=UTF-8\r\nContent-Length: %d\r\n\r\n%s",
		host, address>>8, address&255, len(body), body)
}

// readNoContent reads an answer, which must have the status 204.
func readNoContent(r *bufio.Reader) error {
	status, err := r.ReadString('\n')
	if err != nil || !strings.HasPrefix(status, "HTTP/1.1 204 ") {
		return fmt.Errorf("answer %q: %w", status, err)
	}
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return err
		}
		if len(line) == len("\r\n") {
			return nil
		}
	}
}

// outcomes returns the numbers of beacons by outcome.
func (s *beaconSite) outcomes(b *testing.B) map[string]float64 {
	b.Helper()
	answer := s.p.Send(b, product.Request{URL: s.p.AdminURL + "/metrics"})
	all := map[string]float64{}
	for line := range strings.Lines(answer.Body) {
		var outcome string
		var n float64
		if rest, found := strings.CutPrefix(strings.TrimSpace(line), `mailhelm_beacons_total{outcome="`); found {
			outcome, rest, _ = strings.Cut(rest, `"} `)
			if _, err := fmt.Sscan(rest, &n); err != nil {
				b.Fatal(line)
			}
			all[outcome] = n
		}
	}
	return all
}

// awaitWritten waits until all accepted beacons are written. Each must be an activity of its
// own.
func (s *beaconSite) awaitWritten(b *testing.B) {
	b.Helper()
	for range 300 {
		o := s.outcomes(b)
		if o["limited_visitor"]+o["limited_address"]+o["duplicate"]+o["unknown_visitor"]+o["failed"] > 0 {
			b.Fatalf("outcomes %v", o)
		}
		if o["written"] == o["accepted"] {
			return
		}
		time.Sleep(200 * time.Millisecond) //nolint:forbidigo // each look costs processor time of the server
	}
	b.Fatal("the queue is not written after a minute")
}
