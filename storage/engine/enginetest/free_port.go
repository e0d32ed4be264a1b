package enginetest

import (
	"context"
	"errors"
	"net"
	"time"
)

const (
	// starts is the number of attempts to start a server on a free port, because another
	// process may take the port first. startWait is how long one may take.
	starts    = 10
	startWait = 20 * time.Second
)

// freePort returns a port of the loopback interface on which no process listens.
func freePort(ctx context.Context) (string, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, errors.Join(err, l.Close())
}
