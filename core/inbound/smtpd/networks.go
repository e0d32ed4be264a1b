package smtpd

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// The prefix lengths that count as one network. They are the usual allocation to one
// sender.
const (
	network4 = 24
	network6 = 64
)

// errTooMany is the reply to a connection above the limit of its network (RFC 5321
// section 3.8). The client should retry later.
const errTooMany = "421 4.7.0 Too many connections from your network, try again later\r\n"

// refusalTimeout is the deadline for writing errTooMany. The text fits into the send
// buffer of a new connection, so Accept does not wait for the client.
const refusalTimeout = time.Second

// byNetwork limits the open connections of each network. It refuses further ones with
// errTooMany. It has state only for networks with open connections.
type byNetwork struct {
	net.Listener
	most int

	mu   sync.Mutex
	open map[netip.Prefix]int
}

func newByNetwork(l net.Listener, most int) *byNetwork {
	return &byNetwork{Listener: l, most: most, open: map[netip.Prefix]int{}}
}

// Accept returns the next connection whose network is below its limit.
func (l *byNetwork) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		network := networkOf(conn.RemoteAddr())
		if l.enter(network) {
			return &counted{Conn: conn, leave: sync.OnceFunc(func() { l.leave(network) })}, nil
		}
		_ = conn.SetDeadline(time.Now().Add(refusalTimeout)) //nolint:forbidigo // a deadline of the network is real time
		_, _ = io.WriteString(conn, errTooMany)
		_ = conn.Close()
	}
}

func (l *byNetwork) enter(network netip.Prefix) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[network] >= l.most {
		return false
	}
	l.open[network]++
	return true
}

func (l *byNetwork) leave(network netip.Prefix) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[network]--; l.open[network] == 0 {
		delete(l.open, network)
	}
}

// counted is a connection that counts against its network's limit until it is closed.
type counted struct {
	net.Conn
	leave func()
	// silent is set after a read timeout. The SMTP library then treats the partial line
	// as a line and would wait for another one.
	silent atomic.Bool
}

// Read fails on every call after a read timeout.
func (c *counted) Read(p []byte) (int, error) {
	if c.silent.Load() {
		return 0, os.ErrDeadlineExceeded
	}
	n, err := c.Conn.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.silent.Store(true)
	}
	return n, err
}

func (c *counted) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// networkOf returns the /24 or /64 of an address. An IPv4 address mapped into IPv6
// counts as IPv4. All addresses other than TCP share one network.
func networkOf(a net.Addr) netip.Prefix {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	address := tcp.AddrPort().Addr().Unmap().WithZone("")
	bits := network6
	if address.Is4() {
		bits = network4
	}
	network, err := address.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return network
}
