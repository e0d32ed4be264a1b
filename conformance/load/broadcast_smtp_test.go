package load

import (
	"context"
	"flag"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	server "github.com/emersion/go-smtp"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/smtp"
)

// serverPatience is the limit for a broadcast of a server.
const serverPatience = 10 * time.Minute

var smtpSink = flag.String("load.sink", "", "host:port of an SMTP server on this machine that discards messages; empty starts one in this process")

// BenchmarkBroadcastSMTP sends the broadcast of [BenchmarkBroadcast] through an SMTP server on
// the loopback interface, which discards the messages. Without -load.sink the server runs in
// this process, so its processor time and memory are part of the figures, of the bare loop as
// of the broadcast.
func BenchmarkBroadcastSMTP(b *testing.B) {
	for _, engine := range []string{"sqlite", "postgres"} {
		b.Run(engine, func(b *testing.B) {
			m := newMailshot(b, engine == "postgres")
			address, received := *smtpSink, (*atomic.Int64)(nil)
			if address == "" {
				address, received = startSink(b)
			}
			account := smtp.New(smtp.Config{Server: func(context.Context, string) (smtp.Server, error) {
				return smtp.Server{Connection: sending.Connection{OrgID: m.org, Provider: sending.SMTP, Endpoint: address, MayReachPrivate: true}}, nil
			}})
			b.Cleanup(func() { _ = account.Close() }) // nothing is in flight
			m.compare(b, account)
			if want := int64(2 * b.N * *broadcastRounds * *mailedContacts); received != nil && received.Load() != want {
				b.Fatalf("the server has received %d messages, want %d", received.Load(), want)
			}
		})
	}
}

// BenchmarkBroadcastServer sends the broadcast of [BenchmarkBroadcast] with the whole server
// through SMTP. In addition to the outcomes, the server stores an event for each message. The
// list of messages and the reports need these events.
func BenchmarkBroadcastServer(b *testing.B) {
	for _, engine := range []string{"sqlite", "postgres"} {
		b.Run(engine, func(b *testing.B) {
			p := product.Start(b, product.Options{Postgres: engine == "postgres"})
			address := *smtpSink
			if address == "" {
				address, _ = startSink(b)
			}
			p.SendThrough(b, address)
			m := &mailshot{db: p.DB, org: p.OrgID, list: core.NewID(), content: newsletter()}
			m.content.From = "Acme <news@example.org>"
			m.addList(b)
			for range b.N {
				var rates []float64
				for range *broadcastRounds {
					rates = append(rates, float64(len(m.members))/m.awaitServer(b).Seconds())
				}
				b.ReportMetric(median(rates), "recipients/s")
			}
		})
	}
}

// awaitServer stores a broadcast for a running server, and returns the time until the server
// has sent it.
func (m *mailshot) awaitServer(b *testing.B) time.Duration {
	b.Helper()
	of, began := m.begin(b), time.Now()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for ; time.Since(began) < serverPatience; <-ticker.C {
		now, err := m.db.Broadcasts().Broadcast(b.Context(), m.org, of.ID)
		must(b, err)
		if !now.State.IsOver() {
			continue
		}
		if now.State != broadcasts.Sent || now.Sent != len(m.members) {
			b.Fatalf("the broadcast is %s with %d sent and %d failed", now.State, now.Sent, now.Failed)
		}
		return time.Since(began)
	}
	b.Fatal("the broadcast does not end")
	return 0
}

// startSink starts an SMTP server that counts and discards messages. It returns its address.
func startSink(b *testing.B) (address string, received *atomic.Int64) {
	b.Helper()
	received = &atomic.Int64{}
	s := server.NewServer(server.BackendFunc(func(*server.Conn) (server.Session, error) { return sink{received}, nil }))
	s.Domain = "localhost"
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(b, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.Serve(l) // it ends with the benchmark
	}()
	b.Cleanup(func() {
		_, _ = s.Close(), l.Close()
		<-ended
	})
	return l.Addr().String(), received
}

// sink is a session that discards messages.
type sink struct{ received *atomic.Int64 }

func (sink) Mail(string, *server.MailOptions) error { return nil }
func (sink) Rcpt(string, *server.RcptOptions) error { return nil }
func (sink) Reset()                                 {}
func (sink) Logout() error                          { return nil }

func (s sink) Data(r io.Reader) error {
	if _, err := io.Copy(io.Discard, r); err != nil {
		return err
	}
	s.received.Add(1)
	return nil
}
