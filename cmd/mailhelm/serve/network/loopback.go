package network

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
)

// The IPv4 and IPv6 loopback addresses. portTries is how often listenOn looks for a port
// that is free on both.
const (
	loopbackV4 = "127.0.0.1"
	loopbackV6 = "::1"
	portTries  = 10
)

// listenOn listens on an address; for 127.0.0.1 it also listens on ::1 with the same port.
// Clients resolve the localhost of printed URLs to ::1 first, where another user's program
// could receive their credentials. With port 0 it tries up to ten times, because the chosen
// port may be taken on ::1.
func listenOn(ctx context.Context, addr string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || host != loopbackV4 {
		return plainTCP().Listen(ctx, "tcp", addr)
	}
	for range portTries {
		l, err := listenOnBoth(ctx, port)
		if port != "0" || !config.IsInUse(err) {
			return l, err
		}
	}
	return nil, syscall.EADDRINUSE
}

// plainTCP returns how listeners are opened: without Multipath TCP, which Go otherwise uses and
// which has no packet filter; see Servers.refuseConnections.
func plainTCP() *net.ListenConfig {
	var system net.ListenConfig
	system.SetMultipathTCP(false)
	return &system
}

// listenOnBoth listens on a port of 127.0.0.1 and ::1, or only of 127.0.0.1 on a machine
// without IPv6. It fails with EADDRINUSE if the port is taken on one of them. Port "0" lets
// the system choose a port for both.
func listenOnBoth(ctx context.Context, port string) (net.Listener, error) {
	system := plainTCP()
	v4, err := system.Listen(ctx, "tcp4", net.JoinHostPort(loopbackV4, port))
	if err != nil {
		return nil, err
	}
	_, chosen, err := net.SplitHostPort(v4.Addr().String())
	if err != nil {
		return nil, errors.Join(err, v4.Close())
	}
	v6, err := system.Listen(ctx, "tcp6", net.JoinHostPort(loopbackV6, chosen))
	if config.IsInUse(err) {
		return nil, errors.Join(err, v4.Close())
	}
	if err != nil {
		return v4, nil //nolint:nilerr // without IPv6 no other program can listen on ::1 either
	}
	return newPair(v4, v6), nil
}

// pair combines two listeners into one net.Listener. Its address is that of the first
// listener.
type pair struct {
	net.Listener
	second net.Listener
	// accepted transfers connections and errors from the goroutines of both listeners to the
	// method Accept. The channel closing is closed when the pair is closed, so that these
	// goroutines end. The function close closes the pair at its first call; further calls
	// return the same error.
	accepted chan acceptResult
	closing  chan struct{}
	close    func() error
}

// acceptResult is one result of net.Listener.Accept: a connection or an error.
type acceptResult struct {
	conn net.Conn
	err  error
}

// newPair combines two listeners and starts to accept connections on both. Closing the pair
// closes both listeners.
func newPair(first, second net.Listener) *pair {
	p := &pair{Listener: first, second: second, accepted: make(chan acceptResult), closing: make(chan struct{})}
	p.close = sync.OnceValue(func() error {
		close(p.closing)
		return errors.Join(first.Close(), second.Close())
	})
	go p.accept(first)
	go p.accept(second)
	return p
}

// accept accepts connections on one listener and sends them to p.accepted. It returns when
// the listener fails permanently, for example because the pair was closed.
func (p *pair) accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		select {
		case p.accepted <- acceptResult{conn, err}:
		case <-p.closing:
			if err == nil {
				_ = conn.Close() // Accept no longer takes connections
			}
		}
		if err != nil && !isTemporary(err) {
			return
		}
	}
}

// isTemporary reports whether the next Accept may succeed although this one failed, for
// example because file descriptors ran out.
func isTemporary(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ECONNABORTED)
}

// Accept returns the next connection from one of the two listeners, or the error of a
// listener. After Close it returns net.ErrClosed. A listener with a permanent error
// delivers no further connections.
func (p *pair) Accept() (net.Conn, error) {
	select {
	case a := <-p.accepted:
		return a.conn, a.err
	case <-p.closing:
		return nil, net.ErrClosed
	}
}

// Close closes both listeners. It may be repeated.
func (p *pair) Close() error { return p.close() }
