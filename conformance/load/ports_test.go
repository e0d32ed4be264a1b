package load

import (
	"net"
	"strconv"
	"testing"
)

// freeRow returns the first of six consecutive free loopback ports. If another program
// takes one of them before the benchmark does, the benchmark fails.
func freeRow(b *testing.B) int {
	b.Helper()
	const row = 6
	for first := 21000; first < 60000; first += 7 {
		var open []net.Listener
		for port := first; port < first+row; port++ {
			l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
			if err != nil {
				break
			}
			open = append(open, l)
		}
		for _, l := range open {
			_ = l.Close()
		}
		if len(open) == row {
			return first
		}
	}
	b.Fatal("no six free ports in a row")
	return 0
}

// freePort returns a loopback port on which nothing listens at the moment.
func freePort(b *testing.B) string {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}
