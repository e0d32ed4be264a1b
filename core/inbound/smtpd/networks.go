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

// Prefixes that count as one network: what one sender is usually given.
const (
	network4 = 24
	network6 = 64
)

// errTooMany answers a connection beyond those that its network may have (RFC 5321
// section 3.8): the client comes back later.
const errTooMany = "421 4.7.0 Too many connections from your network, try again later\r\n"

// refusalTimeout bounds writing errTooMany. The text fits into the buffer of a
// new connection, so Accept does not wait for the client.
const refusalTimeout = time.Second

// byNetwork accepts at most a number of open connections from one network, and
// tells further ones to come back. It remembers only networks with open
// connections.
type byNetwork struct {
	net.Listener
	most int

	mu   sync.Mutex
	open map[netip.Prefix]int
}

func newByNetwork(l net.Listener, most int) *byNetwork {
	return &byNetwork{Listener: l, most: most, open: map[netip.Prefix]int{}}
}

// Accept returns the next connection of a network that may have one more.
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

// counted is a connection whose network has a place less until it is closed.
type counted struct {
	net.Conn
	leave func()
	// silent is set once the client has been silent for too long. The protocol's
	// library takes half a line for a line then, and would wait for the next.
	silent atomic.Bool
}

// Read fails for good once it failed for silence.
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

// networkOf is the /24 or /64 of an address; an IPv4 address in an IPv6 one counts
// as itself. Addresses of other kinds share one network.
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
