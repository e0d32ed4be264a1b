package serve

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
)

// portTries limits the attempts to find a port that is free on both loopback addresses.
const (
	loopbackV4 = "127.0.0.1"
	loopbackV6 = "::1"
	portTries  = 10
)

// listenOn opens an address. For 127.0.0.1 it also opens ::1 on the same port. Printed
// URLs say localhost, and clients try ::1 first; another user's program listening there
// could receive their credentials. With port 0 it tries up to ten times, because a port
// can be free on only one of the two.
func listenOn(ctx context.Context, addr string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || host != loopbackV4 {
		return (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	}
	for range portTries {
		l, err := listenOnBoth(ctx, port)
		if port != "0" || !errors.Is(err, syscall.EADDRINUSE) {
			return l, err
		}
	}
	return nil, syscall.EADDRINUSE
}

// listenOnBoth opens a port on both loopback addresses. On a machine without IPv6 it
// opens only the IPv4 one. It fails with EADDRINUSE if either is taken. Port "0" lets
// the system choose one port for both.
func listenOnBoth(ctx context.Context, port string) (net.Listener, error) {
	var config net.ListenConfig
	v4, err := config.Listen(ctx, "tcp4", net.JoinHostPort(loopbackV4, port))
	if err != nil {
		return nil, err
	}
	_, chosen, err := net.SplitHostPort(v4.Addr().String())
	if err != nil {
		return nil, errors.Join(err, v4.Close())
	}
	v6, err := config.Listen(ctx, "tcp6", net.JoinHostPort(loopbackV6, chosen))
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, errors.Join(err, v4.Close())
	}
	if err != nil {
		return v4, nil //nolint:nilerr // without IPv6 no other program can listen on ::1 either
	}
	return newPair(v4, v6), nil
}

// pair combines two listeners into one. Its address is that of the first.
type pair struct {
	net.Listener
	second net.Listener
	// accepted passes the results of both listeners to Accept. closing is closed by the
	// first Close; close implements Close.
	accepted chan accepted
	closing  chan struct{}
	close    func() error
}

// accepted is one result of a listener's Accept: a connection or an error.
type accepted struct {
	conn net.Conn
	err  error
}

// newPair returns a pair and starts to accept on both listeners. The pair owns the
// listeners and closes them.
func newPair(first, second net.Listener) *pair {
	p := &pair{Listener: first, second: second, accepted: make(chan accepted), closing: make(chan struct{})}
	p.close = sync.OnceValue(func() error {
		close(p.closing)
		return errors.Join(first.Close(), second.Close())
	})
	go p.accept(first)
	go p.accept(second)
	return p
}

// accept passes connections to Accept until the listener fails. Closing the pair makes
// it fail.
func (p *pair) accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		select {
		case p.accepted <- accepted{conn, err}:
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

// isTemporary reports whether the next Accept may succeed, for example after file
// descriptors ran out.
func isTemporary(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ECONNABORTED)
}

// Accept waits for a connection on either address. After Close it returns
// net.ErrClosed. A listener that fails with an error that is not temporary accepts no
// more.
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
