package smtpd_test

import (
	"bytes"
	"net"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core/inbound/inboundtest"
	"github.com/mailhelm/mailhelm/core/inbound/smtpd"
)

// scripted is a connection of a client that sends fixed bytes, without waiting for replies, and
// then ends. The server gets them in reads of at most piece bytes.
type scripted struct {
	in    *bytes.Reader
	piece int
	out   bytes.Buffer
	once  sync.Once
	ended chan struct{}
}

func (s *scripted) Read(p []byte) (int, error)       { return s.in.Read(p[:min(len(p), s.piece)]) }
func (s *scripted) Write(p []byte) (int, error)      { return s.out.Write(p) }
func (s *scripted) Close() error                     { s.once.Do(func() { close(s.ended) }); return nil }
func (s *scripted) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (s *scripted) RemoteAddr() net.Addr             { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)} }
func (s *scripted) SetDeadline(time.Time) error      { return nil }
func (s *scripted) SetReadDeadline(time.Time) error  { return nil }
func (s *scripted) SetWriteDeadline(time.Time) error { return nil }

// reporter is what testing.TB and rapid.T have in common.
type reporter interface {
	Helper()
	Error(args ...any)
	Fatalf(format string, args ...any)
}

// script runs a session with bytes of a client, and returns the replies and what was received.
func script(t reporter, limits smtpd.Limits, input []byte, piece int) (string, []inboundtest.Received) {
	t.Helper()
	intake := &inboundtest.Intake{}
	s := smtpd.New(configOf(smtpd.Config{Limits: limits}, intake))
	l := newPipes()
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	conn := &scripted{in: bytes.NewReader(input), piece: max(1, piece), ended: make(chan struct{})}
	l.conns <- conn
	<-conn.ended
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	return conn.out.String(), intake.Received()
}
