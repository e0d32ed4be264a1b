package smtpd

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"
)

// The lengths of the IPv4 and IPv6 prefixes that count as one network. One sender usually
// gets a network of this size.
const (
	network4 = 24
	network6 = 64
)

// refusalOfNetwork is the reply to a connection above the connection limit of its network (RFC
// 5321 section 3.8). Code 421 asks the client to retry later.
const refusalOfNetwork = "421 4.7.0 Too many connections from your network, try again later\r\n"

// refusalTimeout is the deadline for writing refusalOfNetwork to a refused connection. The text
// fits into the send buffer of a new connection, so Accept does not wait for the client.
const refusalTimeout = time.Second

// byNetwork is a listener that limits the open connections of each client network. It
// refuses connections above the limit with refusalOfNetwork. It keeps a counter only for networks
// with open connections.
type byNetwork struct {
	net.Listener
	most    int
	refused func() // is called for each refused connection

	mu   sync.Mutex
	open map[netip.Prefix]int
}

func newByNetwork(l net.Listener, most int, refused func()) *byNetwork {
	return &byNetwork{Listener: l, most: most, refused: refused, open: map[netip.Prefix]int{}}
}

// Accept returns the next connection whose network is below its limit. It refuses and
// closes connections of other networks.
func (l *byNetwork) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		network := networkOf(addressOf(conn))
		if l.enter(network) {
			return &countedConn{Conn: conn, leave: sync.OnceFunc(func() { l.leave(network) })}, nil
		}
		l.refused()
		_ = conn.SetDeadline(now().Add(refusalTimeout))
		_, _ = io.WriteString(conn, refusalOfNetwork)
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
}

func (c *countedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// CloseWrite ends what is sent to the client, if the connection can do that.
func (c *countedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// addressOf returns the address of the client. An IPv4 address mapped into IPv6 becomes IPv4. A
// connection other than TCP has the zero address.
func addressOf(conn interface{ RemoteAddr() net.Addr }) netip.Addr {
	tcp, ok := conn.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return tcp.AddrPort().Addr().Unmap().WithZone("")
}

// networkOf returns the /24 network of an IPv4 address or the /64 network of an IPv6 address.
// The zero address has the zero prefix.
func networkOf(address netip.Addr) netip.Prefix {
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
