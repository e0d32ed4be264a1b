package load

import (
	"context"
	"flag"
	"io"
	"net"
	"sync/atomic"
	"testing"

	server "github.com/emersion/go-smtp"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/smtp"
)

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
