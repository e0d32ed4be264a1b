package overview

import (
	"context"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// server has metrics as a server has them, and a clock that a test moves.
type server struct {
	registry        *prometheus.Registry
	now             time.Time
	calls, refusals *prometheus.CounterVec
	faults, ofPool  *prometheus.CounterVec
	seconds         *prometheus.HistogramVec
	queue, oldest   *prometheus.GaugeVec
	limit, jobs     *prometheus.GaugeVec
	synced          *prometheus.GaugeVec
}

func newServer() *server {
	s := &server{registry: prometheus.NewRegistry(), now: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)}
	counter := func(name string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: "Of a test."}, labels)
		s.registry.MustRegister(c)
		return c
	}
	gauge := func(name string, labels ...string) *prometheus.GaugeVec {
		g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: "Of a test."}, labels)
		s.registry.MustRegister(g)
		return g
	}
	s.calls = counter("mailhelm_calls_total", "operation", "surface", "outcome")
	s.refusals = counter("mailhelm_refusals_total", "operation", "surface", "cause")
	s.faults = counter("mailhelm_faults_total", "surface", "cause")
	s.ofPool = counter("mailhelm_database_replica_fallbacks_total", "reason")
	s.queue, s.oldest = gauge("mailhelm_queue_waiting", "queue"), gauge("mailhelm_queue_oldest_seconds", "queue")
	s.limit, s.jobs = gauge("mailhelm_database_connections_limit", "pool"), gauge("mailhelm_jobs", "kind", "state")
	s.synced = gauge("mailhelm_sync_success_timestamp_seconds", "kind")
	s.seconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "mailhelm_call_seconds", Help: "Of a test.", Buckets: []float64{.01, .1, 1},
	}, []string{"operation", "surface"})
	s.registry.MustRegister(s.seconds)
	return s
}

func (s *server) clock() time.Time { return s.now }

// page returns the page with the given state.
func (s *server) page(t *testing.T, h *History, state State) string {
	t.Helper()
	w := httptest.NewRecorder()
	Handler(h, func(context.Context) State { return state }).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", http.NoBody))
	if w.Code != http.StatusOK || !strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("status %d, headers %v", w.Code, w.Header())
	}
	return w.Body.String()
}

// TestRatesOfTheLastHour checks that charts show the calls between two samples by their time, and
// that samples of more than an hour ago are left out.
func TestRatesOfTheLastHour(t *testing.T) {
	t.Parallel()
	s := newServer()
	h := NewHistory(s.registry, s.clock)
	s.calls.WithLabelValues("contacts_lookup", "rest", "ok").Add(90_000)
	for range 2 * kept {
		s.now = s.now.Add(sampleEvery)
		h.take()
	}
	s.calls.WithLabelValues("contacts_lookup", "rest", "ok").Add(60)
	s.calls.WithLabelValues("contacts_lookup", "agent", "ok").Add(30)
	s.refusals.WithLabelValues("contacts_lookup", "rest", "rate_limited").Add(3)
	s.refusals.WithLabelValues("contacts_lookup", "rest", "invalid_key").Add(5)
	for range 90 {
		s.seconds.WithLabelValues("contacts_lookup", "rest").Observe(.05)
	}
	s.now = s.now.Add(sampleEvery)
	page := s.page(t, h, State{Ready: true})
	for _, want := range []string{
		"<dt>Calls</dt><dd>90</dd>", "Most in the last hour: 3/s, at 11:01:30. Now: 3/s.", "Most in the last hour: 6/min",
		"<dt>Half faster than</dt><dd>55 ms</dd>", "<dt>Above a limit</dt><dd>3</dd>", "11:01:30: Agents 1/s. API 2/s. Dashboard 0/s.",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %q", want)
		}
	}
	if len(h.samples) != kept {
		t.Errorf("%d samples are kept, want %d", len(h.samples), kept)
	}
}

// TestWhatNeedsAttention checks that the page names failed checks, late work, discarded jobs and
// old syncs, and that it shows a replica if there is one.
func TestWhatNeedsAttention(t *testing.T) {
	t.Parallel()
	s := newServer()
	h := NewHistory(s.registry, s.clock)
	quiet := s.page(t, h, State{Ready: true, Checks: map[string]string{"database": "ok"}})
	for _, never := range []string{"class=\"late\"", "role=\"alert\"", "Database replica"} {
		if strings.Contains(quiet, never) {
			t.Errorf("the page of a server in order has %q", never)
		}
	}
	s.queue.WithLabelValues("event_webhooks").Set(12_345)
	s.oldest.WithLabelValues("event_webhooks").Set(7200)
	s.queue.WithLabelValues("broadcast_recipients").Set(10)
	s.oldest.WithLabelValues("broadcast_recipients").Set(7200)
	s.jobs.WithLabelValues("purge_messages", "discarded").Set(2)
	s.limit.WithLabelValues("replica").Set(4)
	s.ofPool.WithLabelValues("lag").Add(7)
	s.synced.WithLabelValues("channels").Set(float64(s.now.Add(-3 * time.Hour).Unix()))
	page := s.page(t, h, State{
		Checks: map[string]string{"database": "failed", "accepting": "ok"}, Causes: map[string]string{"database": "the disk is full"},
		Warnings: map[string]string{"no_worker": "No process runs <jobs>."},
	})
	for _, want := range []string{
		"Not ready", "The database accepts no calls. the disk is full", "No process runs &lt;jobs&gt;.",
		`<tr class="late"><th scope="row">Event webhooks</th><td>12,345</td><td>2 h</td></tr>`, `<tr><th scope="row">Broadcast recipients</th>`,
		`<tr class="late"><th scope="row">purge_messages</th>`, `<tr class="late"><th scope="row">Channels</th><td>3 h ago</td>`,
		"Answered by the primary: the replica was too old</th><td>7</td>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %q", want)
		}
	}
}

// TestUnreadableDatabase checks the page of a server that could not read its queues yet.
func TestUnreadableDatabase(t *testing.T) {
	t.Parallel()
	s := newServer()
	s.queue.WithLabelValues("event_webhooks").Set(math.NaN())
	s.jobs.WithLabelValues("purge_messages", "running").Set(math.NaN())
	s.synced.WithLabelValues("channels").Set(math.NaN())
	page := s.page(t, NewHistory(s.registry, s.clock), State{})
	if !strings.Contains(page, "The database has not answered yet.") || strings.Contains(page, "NaN") {
		t.Errorf("page: %s", page)
	}
}

func TestQuantiles(t *testing.T) {
	t.Parallel()
	b := buckets{bounds: []float64{1, 2, 4, math.Inf(1)}, counts: []float64{0, 50, 90, 100}}
	for q, want := range map[float64]float64{0.25: 1.5, 0.5: 2, 0.7: 3, 0.9: 4, 0.99: 4} {
		if got := b.quantile(q); math.Abs(got-want) > 1e-9 {
			t.Errorf("quantile %v = %v, want %v", q, got, want)
		}
	}
	if got := b.since(b).quantile(0.5); !math.IsNaN(got) {
		t.Errorf("quantile without values = %v", got)
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		count(0): "0", count(999): "999", count(1234567): "1,234,567", count(-3): "-3",
		age(119): "119 s", age(120): "2 min", age(7199): "119 min", age(7200): "2 h", age(48 * 3600): "2 days",
		milliseconds(.0004): "0.4 ms", milliseconds(.0123): "12 ms", megabytes(75.4e6): "75 MB", perSecond(9.96): "10/s", name("received_mail"): "Received mail", name("dmarc_mails"): "DMARC mails",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
