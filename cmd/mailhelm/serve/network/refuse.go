package network

import (
	"context"
	"net"
	"syscall"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
)

// handshakeTime is how long handshakes of TCP may take that began before the listeners refuse
// new connections. It is longer than a round trip between a server and its proxy.
const handshakeTime = 250 * time.Millisecond

// refuseConnections drops the first segment of new connections at the public listeners, and
// waits until connections of which the handshake has begun are accepted, or ctx ends.
//
// Closing a listener resets the connections that the kernel has established and the program
// has not accepted. Their clients may already have sent a request, and a proxy does not repeat
// a POST that it has sent. A client whose first segment is dropped sends it again after one
// second. By then the listener is closed, so the connection is refused, and the proxy sends the
// request to another server.
//
// Only Linux can do that. On other systems, and if the kernel does not support it, closing the
// listeners may reset such connections.
func (s *Servers) refuseConnections(ctx context.Context) {
	refused := false
	for service, l := range s.open {
		if service == config.AdminService {
			continue
		}
		if err := refuseNew(l); err != nil {
			s.log.DebugContext(ctx, "new connections are not refused before the end", "service", service, "cause", err)
			continue
		}
		refused = true
	}
	if !refused {
		return
	}
	wait := time.NewTimer(handshakeTime)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-ctx.Done():
	}
}

// refuseNew lets the kernel drop the first segments of connections to a listener, which may be
// a pair. It may be repeated, because services can share a listener.
func refuseNew(l net.Listener) error {
	if both, ok := l.(*pair); ok {
		if err := refuseNew(both.Listener); err != nil {
			return err
		}
		return refuseNew(both.second)
	}
	socket, ok := l.(syscall.Conn)
	if !ok {
		return syscall.ENOTSUP
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = dropFirstSegments(fd) }); err != nil {
		return err
	}
	return failed
}
