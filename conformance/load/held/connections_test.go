package held

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// byteEvery is how long a slow client waits between two bytes.
const byteEvery = 500 * time.Millisecond

// slowClients starts 500 clients, each of which opens a new connection when the server closes its
// last one. A third sends headers byte by byte, a third sends bodies byte by byte, with the key of
// an organization, and a third makes calls and reads no answers. The returned function ends them.
func (s *server) slowClients(b *testing.B, o *org) func() {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	var clients sync.WaitGroup
	var opened, cutOff atomic.Int64
	for i := range slowClients {
		behave := []func(context.Context, net.Conn) error{sendHeader, o.sendBody, o.readNothing}[i%3]
		clients.Go(func() {
			for ctx.Err() == nil {
				conn, err := s.dial(ctx)
				if err != nil {
					continue
				}
				opened.Add(1)
				if err := behave(ctx, conn); err != nil && ctx.Err() == nil {
					cutOff.Add(1)
				}
				_ = conn.Close()
			}
		})
	}
	s.awaitCalm(b)
	return func() {
		cancel()
		clients.Wait()
		b.ReportMetric(float64(opened.Load()), "slow-connections")
		b.ReportMetric(float64(cutOff.Load()), "cut-off")
	}
}

// awaitCalm waits until the server needs less than a fifth of a processor, so that the pages which no
// client reads are made. It gives up after a minute.
func (s *server) awaitCalm(b *testing.B) {
	b.Helper()
	last := s.mustSample(b)
	for range int(time.Minute / rest) {
		time.Sleep(rest) //nolint:forbidigo // a process of its own
		now := s.mustSample(b)
		if now.processor-last.processor < rest/5 {
			return
		}
		last = now
	}
}

// dial opens a connection to the API. It is closed when ctx ends.
func (s *server) dial(ctx context.Context) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", strings.TrimPrefix(s.api, "http://"))
	if err == nil {
		context.AfterFunc(ctx, func() { _ = conn.Close() })
	}
	return conn, err
}

// trickle sends a text byte by byte.
func trickle(ctx context.Context, conn net.Conn, text string) error {
	every := time.NewTicker(byteEvery)
	defer every.Stop()
	for i := range len(text) {
		select {
		case <-every.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		if _, err := conn.Write([]byte{text[i]}); err != nil {
			return err
		}
	}
	return nil
}

func sendHeader(ctx context.Context, conn net.Conn) error {
	return trickle(ctx, conn, "GET /v1/lists HTTP/1.1\r\nHost: localhost\r\nX-Filler: "+strings.Repeat("x", 1000)+"\r\n\r\n")
}

func (o *org) sendBody(ctx context.Context, conn net.Conn) error {
	body := `{"attributes":{"first_name":"` + strings.Repeat("x", 1000) + `"}}`
	if _, err := fmt.Fprintf(conn, "PUT /v1/contacts/%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", address(0), o.key, len(body)); err != nil {
		return err
	}
	return trickle(ctx, conn, body)
}

// readNothing asks for four pages and reads no answer. Its small buffer is soon full, so the server
// cannot send the pages.
func (o *org) readNothing(ctx context.Context, conn net.Conn) error {
	const buffer = 4 << 10
	if err := conn.(*net.TCPConn).SetReadBuffer(buffer); err != nil {
		return err
	}
	call := fmt.Sprintf("GET /v1/contacts?limit=100 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", o.key)
	if _, err := conn.Write([]byte(strings.Repeat(call, 4))); err != nil {
		return err
	}
	<-ctx.Done()
	return ctx.Err()
}

// idleConnections opens 10,000 connections, or as many as the limit of open files allows, each of
// which makes one call and stays open. The returned function closes them. It reports their number
// and the server's memory for each.
func (s *server) idleConnections(b *testing.B) func() {
	b.Helper()
	n := idleConnections
	var files syscall.Rlimit
	must(b, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files)) // Go raises the soft limit to the hard one
	if most := int(files.Cur) - 1000; most < n {
		b.Logf("the limit of open files allows %d connections, not %d", most, n)
		n = most
	}
	before := s.atRest(b)
	ctx, cancel := context.WithCancel(b.Context())
	conns := make(chan int, n)
	for i := range n {
		conns <- i
	}
	close(conns)
	var opening sync.WaitGroup
	var failed atomic.Int64
	for range 32 {
		opening.Go(func() {
			for range conns {
				if err := s.openIdle(ctx); err != nil {
					failed.Add(1)
				}
			}
		})
	}
	opening.Wait()
	if failed.Load() > 0 {
		cancel()
		b.Fatalf("%d of %d connections failed", failed.Load(), n)
	}
	during := s.mustSample(b)
	b.ReportMetric(float64(n), "connections")
	b.ReportMetric((during.resident-before.resident)*1024/float64(n), "KB-each")
	b.ReportMetric(during.goroutines-before.goroutines, "goroutines")
	return cancel
}

// openIdle opens a connection and makes one call. The connection stays open until ctx ends.
func (s *server) openIdle(ctx context.Context) error {
	conn, err := s.dial(ctx)
	if err != nil {
		return err
	}
	if _, err := conn.Write([]byte("GET /v1/_health HTTP/1.1\r\nHost: localhost\r\n\r\n")); err != nil {
		return err
	}
	answer, err := http.ReadResponse(bufio.NewReaderSize(conn, 512), nil)
	if err != nil {
		return err
	}
	if answer.Close {
		return errors.New("the server closes the connection")
	}
	return answer.Body.Close()
}
