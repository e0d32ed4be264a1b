package smtpd_test

import (
	"net"
	"net/textproto"
	"sync"
	"testing"

	"github.com/mailhelm/mailhelm/core/inbound/inboundtest"
	"github.com/mailhelm/mailhelm/core/inbound/smtpd"
)

// pipes is a listener whose connections are given to it. Unlike network connections, in-memory
// pipes work with the virtual time of testing/synctest.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), done: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// piped is a server with one connection, through a pipe. Use it in a synctest bubble, and end
// it there.
type piped struct {
	*smtpd.Server
	intake  *inboundtest.Intake
	raw     net.Conn
	conn    *textproto.Conn
	running sync.WaitGroup
}

func startPipe(t *testing.T, cfg smtpd.Config) *piped {
	t.Helper()
	p := &piped{intake: &inboundtest.Intake{}}
	if given, ok := cfg.Intake.(*inboundtest.Intake); ok {
		p.intake = given
	}
	l := newPipes()
	p.Server = smtpd.New(configOf(cfg, p.intake))
	p.running.Go(func() {
		if err := p.Serve(l); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	client, server := net.Pipe()
	l.conns <- server
	p.raw, p.conn = client, textproto.NewConn(client)
	exchange(t, p.conn, 220, "")
	return p
}

// end closes the connection and the server, and waits for both.
func (p *piped) end(t *testing.T) {
	t.Helper()
	_ = p.raw.Close()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	p.running.Wait()
}
