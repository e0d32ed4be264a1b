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

// The lengths of the IPv4 and IPv6 prefixes that count as one network. One sender usually
// gets a network of this size.
const (
	network4 = 24
	network6 = 64
)

// errTooMany is the reply to a connection above the connection limit of its network (RFC
// 5321 section 3.8). Code 421 asks the client to retry later.
const errTooMany = "421 4.7.0 Too many connections from your network, try again later\r\n"

// refusalTimeout is the deadline for writing errTooMany to a refused connection. The text
// fits into the send buffer of a new connection, so Accept does not wait for the client.
const refusalTimeout = time.Second

// byNetwork is a listener that limits the open connections of each client network. It
// refuses connections above the limit with errTooMany. It keeps a counter only for networks
// with open connections.
type byNetwork struct {
	net.Listener
	most int

	mu   sync.Mutex
	open map[netip.Prefix]int
}

func newByNetwork(l net.Listener, most int) *byNetwork {
	return &byNetwork{Listener: l, most: most, open: map[netip.Prefix]int{}}
}

// Accept returns the next connection whose network is below its limit. It refuses and
// closes connections of other networks.
func (l *byNetwork) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		network := networkOf(conn.RemoteAddr())
		if l.enter(network) {
			return &countedConn{Conn: conn, leave: sync.OnceFunc(func() { l.leave(network) })}, nil
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

// countedConn is a connection that counts against its network's limit until it is closed.
type countedConn struct {
	net.Conn
	leave func()
	// silent is true after a read timeout; every later read then fails. Without this, the
	// SMTP library would handle a line that the timeout interrupted as a command, and wait
	// for the next command.
	silent atomic.Bool
}

// Read reads from the connection. After a read timeout, every call fails with
// os.ErrDeadlineExceeded.
func (c *countedConn) Read(p []byte) (int, error) {
	if c.silent.Load() {
		return 0, os.ErrDeadlineExceeded
	}
	n, err := c.Conn.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.silent.Store(true)
	}
	return n, err
}

func (c *countedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// networkOf returns the /24 network of an IPv4 address or the /64 network of an IPv6
// address. An IPv4 address mapped into IPv6 counts as IPv4. Addresses other than TCP get
// the zero prefix.
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
