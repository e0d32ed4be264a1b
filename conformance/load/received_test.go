package load

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/core/receiving/receivingtest"
	"github.com/mailhelm/mailhelm/core/standardhooks/post"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var deliveries = flag.Int("load.deliveries", 10_000, "how many received messages the benchmark of their webhooks delivers")

// BenchmarkReceivedWebhooks delivers received messages of 11 KB to an https server in this
// process: it leases endpoints, reads and signs the messages, posts them and stores each attempt.
// It compares the rate with that of a bare loop that posts the same body, four requests at the
// same time to each endpoint. "beside a slow one" has another endpoint that answers no request.
func BenchmarkReceivedWebhooks(b *testing.B) {
	for _, engine := range []string{"sqlite", "postgres"} {
		for name, c := range map[string]struct{ endpoints, slow int }{
			"one endpoint": {1, 0}, "eight endpoints": {8, 0}, "one beside a slow one": {1, 1},
		} {
			b.Run(engine+"/"+name, func(b *testing.B) {
				var db *storage.DB
				if engine == "postgres" {
					db = storagetest.Postgres(b)
				} else {
					db = storagetest.SQLite(b)
				}
				s := newHookSink(b)
				var rates, bare []float64
				for b.Loop() {
					for range rounds {
						bare = append(bare, float64(*deliveries)/s.post(b, c.endpoints).Seconds())
						rates = append(rates, float64(*deliveries)/s.deliver(b, db, c.endpoints, c.slow).Seconds())
					}
				}
				b.ReportMetric(median(rates), "deliveries/s")
				b.ReportMetric(median(bare), "posts/s")
				b.ReportMetric(median(ratios(rates, bare)), "x-posts")
			})
		}
	}
}

// hookSink is an https server that counts the requests of webhooks.
type hookSink struct {
	*httptest.Server
	roots *x509.CertPool
	// all is closed when wanted requests have come.
	all    chan struct{}
	wanted atomic.Int64
	// hold ends the requests to /slow.
	hold chan struct{}
}

func newHookSink(b *testing.B) *hookSink {
	b.Helper()
	s := &hookSink{roots: x509.NewCertPool()}
	s.Server = httptest.NewUnstartedServer(s)
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s.StartTLS()
	b.Cleanup(s.Close)
	s.roots.AddCert(s.Certificate())
	return s
}

func (s *hookSink) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return
	}
	if strings.HasPrefix(r.URL.Path, "/slow") {
		select {
		case <-r.Context().Done():
		case <-s.hold:
		}
		return
	}
	if s.wanted.Add(-1) == 0 {
		close(s.all)
	}
}

// expect prepares the sink for a number of requests.
func (s *hookSink) expect(n int) {
	s.all, s.hold = make(chan struct{}), make(chan struct{})
	s.wanted.Store(int64(n))
}

// post posts a body as often as messages are delivered, and returns the time of that.
func (s *hookSink) post(b *testing.B, endpoints int) time.Duration {
	b.Helper()
	s.expect(*deliveries)
	body := []byte(`{"text_body":"` + strings.Repeat("x", 11<<10) + `"}`)
	c := s.Client()
	c.Transport.(*http.Transport).MaxIdleConnsPerHost = receiving.InFlight * endpoints
	defer c.CloseIdleConnections()
	var left atomic.Int64
	left.Store(int64(*deliveries))
	began := time.Now()
	var senders sync.WaitGroup
	for range receiving.InFlight * endpoints {
		senders.Go(func() {
			for left.Add(-1) >= 0 {
				response, err := c.Post(s.URL, "application/json", bytes.NewReader(body))
				if err == nil {
					_, err = io.Copy(io.Discard, response.Body)
					err = errors.Join(err, response.Body.Close())
				}
				if err != nil {
					b.Error(err)
				}
			}
		})
	}
	senders.Wait()
	return time.Since(began)
}

// deliver stores messages for new endpoints, and returns the time in which they are delivered.
func (s *hookSink) deliver(b *testing.B, db *storage.DB, endpoints, slow int) time.Duration {
	b.Helper()
	var last *receivingtest.World
	for i := range endpoints + slow {
		url := fmt.Sprintf("%s/fast/%d", s.URL, i)
		if i >= endpoints {
			url = fmt.Sprintf("%s/slow/%d", s.URL, i)
		}
		last = endpoint(b, db, url, *deliveries/endpoints)
	}
	s.expect(*deliveries / endpoints * endpoints)
	sender := post.New(post.Config{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Roots: func() *x509.CertPool { return s.roots }})
	defer sender.Close()
	queue := db.ReceivedDeliveries()
	courier := receiving.NewCourier(receiving.CourierConfig{
		Queue: queue, Store: queue, Objects: last.Stores, Sealer: last.Sealer, Sender: sender,
		Clock: core.SystemClock, Log: slog.New(slog.DiscardHandler),
	})
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	ended := make(chan struct{})
	began := time.Now()
	go func() {
		defer close(ended)
		courier.Run(ctx)
	}()
	<-s.all
	took := time.Since(began)
	close(s.hold)
	stop()
	<-ended
	return took
}

// endpoint returns an organization with due deliveries to a URL.
func endpoint(b *testing.B, db *storage.DB, url string, messages int) *receivingtest.World {
	b.Helper()
	w := receivingtest.New(b, db)
	domain := "in" + w.OrgID + ".example.com"
	id := w.Want(b, "inbound_domains_create", `{"domain":"`+domain+`"}`)["id"].(string)
	w.Want(b, "inbound_webhook_replace", `{"domain":"`+domain+`","webhook_url":"https://hooks.example.com"}`)
	_, err := db.Writer().ExecContext(b.Context(), `UPDATE receiving_domains SET webhook_url = $1 WHERE org_id = $2`, url, w.OrgID)
	must(b, err)
	text := strings.Repeat("Eleven kilobytes of plain text, in lines.\n", 260)
	must(b, db.InTx(b.Context(), func(ctx context.Context) error {
		for i := range messages {
			m := w.Message(core.NewID())
			m.ReceivedAt = m.ReceivedAt.Add(time.Duration(i) * time.Microsecond)
			m.Text, m.HTML, m.Size, m.StoreID, m.RawKey = text, "", int64(len(text)), objects.FilesID, objects.RawKey(w.OrgID, m.ID)
			to := []string{"support@" + domain}
			if _, err := db.ReceivedDeliveries().Add(ctx, w.OrgID, receiving.LogEntry{
				Message: receiving.Message{
					ID: core.NewID(), MessageID: m.ID, DomainID: id, Domain: domain, Sender: m.Sender, Recipients: to, Subject: m.Subject,
					Outcome: receiving.Received, ReceivedAt: m.ReceivedAt, UpdatedAt: m.ReceivedAt, Size: m.Size,
				},
				States:  []receiving.State{{State: receiving.Received, OccurredAt: m.ReceivedAt}},
				Content: &m, ExpiresAt: m.ReceivedAt.Add(receiving.Kept), Wanted: &receiving.Wanted{Recipients: to},
			}); err != nil {
				return err
			}
		}
		return nil
	}))
	return w
}
