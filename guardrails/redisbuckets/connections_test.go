package redisbuckets

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
)

// TestConnectionOpenedLateServesTheNextCall lets a Redis accept the sign-in only after the
// deadline of the first call. The next call must use the same connection.
func TestConnectionOpenedLateServesTheNextCall(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() //nolint:errcheck // the test is over
	signIn, accepted := make(chan struct{}), make(chan struct{}, mostConns)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			accepted <- struct{}{}
			go answerSlowly(conn, signIn)
		}
	}()
	c := newConnections(listener.Addr().String(), []redis.DialOption{redis.DialPassword("secret")})
	defer c.close() //nolint:errcheck // the test is over
	ping := func(conn redis.Conn, within time.Duration) (any, error) {
		return redis.DoWithTimeout(conn, within, "PING")
	}
	early, cancel := context.WithCancel(t.Context())
	go func() { <-accepted; cancel() }()
	if _, err := c.run(early, ping); err == nil {
		t.Fatal("a call was answered before the sign-in")
	}
	close(signIn)
	c.keep(<-c.late) // waits until the connection has been opened
	if answer, err := redis.String(c.run(t.Context(), ping)); err != nil || answer != "PONG" {
		t.Fatalf("%q, %v", answer, err)
	}
	if len(accepted) > 0 {
		t.Errorf("%d connections more than the first", len(accepted))
	}
}

// answerSlowly answers the sign-in after signIn is closed, and then one PING.
func answerSlowly(conn net.Conn, signIn <-chan struct{}) {
	defer conn.Close() //nolint:errcheck // the test is over
	buffer := make([]byte, 1024)
	for _, answer := range []string{"+OK\r\n", "+PONG\r\n"} {
		if _, err := conn.Read(buffer); err != nil {
			return
		}
		<-signIn
		if _, err := conn.Write([]byte(answer)); err != nil {
			return
		}
	}
	_, _ = conn.Read(buffer) // until the client closes the connection
}
