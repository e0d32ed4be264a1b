package smtpd_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/textproto"
	"strings"
	"sync/atomic"
	"testing"

	peer "github.com/emersion/go-smtp"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inbound/smtpd"
)

// discard is an intake that reads messages and keeps nothing.
type discard struct{}

func (discard) Accept(_ context.Context, _ inbound.Envelope, body io.Reader) error {
	_, err := io.Copy(io.Discard, body)
	return err
}

// peerSession is a session of go-smtp that does the same.
type peerSession struct{}

func (peerSession) Mail(string, *peer.MailOptions) error { return nil }
func (peerSession) Rcpt(string, *peer.RcptOptions) error { return nil }
func (peerSession) Reset()                               {}
func (peerSession) Logout() error                        { return nil }
func (peerSession) Data(r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	return err
}

// BenchmarkReceive receives messages of 11 KB over 16 connections and discards them, beside the
// server of go-smtp.
func BenchmarkReceive(b *testing.B) {
	b.Run("mailhelm", func(b *testing.B) {
		receive(b, start(b, smtpd.Config{Intake: discard{}, Limits: smtpd.Limits{Messages: 1 << 40}}).addr)
	})
	b.Run("go-smtp", func(b *testing.B) {
		s := peer.NewServer(peer.BackendFunc(func(*peer.Conn) (peer.Session, error) { return peerSession{}, nil }))
		s.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		done := make(chan struct{})
		go func() { defer close(done); _ = s.Serve(l) }()
		b.Cleanup(func() { _ = s.Close(); <-done })
		receive(b, l.Addr().String())
	})
}

// receive sends b.N messages over 16 connections.
func receive(b *testing.B, addr string) {
	b.Helper()
	const connections = 16
	message := "From: ada@example.org\r\nTo: inbox@org.example.com\r\nSubject: a\r\n\r\n" + strings.Repeat(strings.Repeat("x", 70)+"\r\n", 11<<10/72) + ".\r\n"
	conns := make([]*textproto.Conn, connections)
	for i := range conns {
		conn, err := textproto.Dial("tcp", addr)
		if err != nil {
			b.Fatal(err)
		}
		conns[i] = conn
		exchange(b, conn, 220, "")
		exchange(b, conn, 250, "EHLO client.example.org")
	}
	b.SetBytes(int64(len(message)))
	b.ReportAllocs()
	b.ResetTimer()
	var left atomic.Int64
	left.Store(int64(b.N))
	ended := make(chan error, connections)
	for _, conn := range conns {
		go func() {
			var err error
			for left.Add(-1) >= 0 && err == nil {
				err = send(conn, message)
			}
			ended <- err
		}()
	}
	for range conns {
		if err := <-ended; err != nil {
			b.Error(err)
		}
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
	for _, conn := range conns {
		_ = conn.Close()
	}
}

// send sends one message, and waits for the reply to each command.
func send(conn *textproto.Conn, message string) error {
	for _, step := range []struct {
		text string
		code int
	}{{"MAIL FROM:<ada@example.org>\r\n", 250}, {"RCPT TO:<inbox@org.example.com>\r\n", 250}, {"DATA\r\n", 354}, {message, 250}} {
		if _, err := conn.W.WriteString(step.text); err != nil {
			return err
		}
		if err := conn.W.Flush(); err != nil {
			return err
		}
		if _, _, err := conn.ReadResponse(step.code); err != nil {
			return err
		}
	}
	return nil
}
