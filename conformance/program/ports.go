package program

import (
	"context"
	"net"
	"strconv"
	"testing"
)

// FreePorts returns the first of n consecutive free ports of the loopback interface, from the port
// from on. Ports below 32768 are not assigned to outgoing connections.
func FreePorts(tb testing.TB, from, n int) int {
	tb.Helper()
	for first := from; first < from+200*n; first += n {
		if allFree(tb.Context(), first, n) {
			return first
		}
	}
	tb.Fatalf("no %d free ports in a row from %d on", n, from)
	return 0
}

func allFree(ctx context.Context, first, n int) bool {
	var config net.ListenConfig
	for port := first; port < first+n; port++ {
		l, err := config.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			return false
		}
		_ = l.Close()
	}
	return true
}
