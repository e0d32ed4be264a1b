package network

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
)

// startServers starts an API and an admin server on the loopback. The returned channel receives
// the answer of each call of /slow, which waits for it.
func startServers(t *testing.T) (s *Servers, api, admin string, slow chan string) {
	t.Helper()
	open, err := Listen(t.Context(), []config.Port{{Service: config.APIService, Addr: "127.0.0.1:0"}, {Service: config.AdminService, Addr: "127.0.0.1:0"}})
	if err != nil {
		t.Fatal(err)
	}
	slow = make(chan string)
	mux := http.NewServeMux()
	mux.HandleFunc("/quick", named("quick").ServeHTTP)
	mux.HandleFunc("/slow", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, <-slow) }) //nolint:errcheck // the test reads it
	s = Serve(open, map[string]http.Handler{config.APIService: mux, config.AdminService: named("admin")}, nil, slog.New(slog.DiscardHandler))
	return s, open[config.APIService].Addr().String(), open[config.AdminService].Addr().String(), slow
}

// get requests a page and reports whether the server closes the connection after it.
func get(ctx context.Context, client *http.Client, address string) (text string, closes bool, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address, nil)
	if err != nil {
		return "", false, err
	}
	answer, err := client.Do(r)
	if err != nil {
		return "", false, err
	}
	body, err := io.ReadAll(answer.Body)
	return string(body), answer.Close, errors.Join(err, answer.Body.Close())
}

// TestServersEndInSteps checks the order of an end with a drain delay. After EndKeepAlive new
// connections are accepted and closed after one answer, and the admin address keeps its
// connections. Drain finishes the call in flight and refuses new connections.
func TestServersEndInSteps(t *testing.T) {
	t.Parallel()
	s, api, admin, slow := startServers(t)
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	if text, closes, err := get(t.Context(), client, api+"/quick"); text != "quick" || closes || err != nil {
		t.Errorf("before the end: %q, closes %t, %v", text, closes, err)
	}
	inFlight := make(chan error, 1)
	go func() {
		text, _, err := get(t.Context(), &http.Client{Transport: &http.Transport{}}, api+"/slow")
		if err == nil && text != "finished" {
			err = errors.New("in flight: " + text)
		}
		inFlight <- err
	}()
	s.EndKeepAlive()
	for range 2 {
		if text, closes, err := get(t.Context(), client, api+"/quick"); text != "quick" || !closes || err != nil {
			t.Errorf("during the drain delay: %q, closes %t, %v", text, closes, err)
		}
	}
	if _, closes, err := get(t.Context(), client, admin); closes || err != nil {
		t.Errorf("admin address: closes %t, %v", closes, err)
	}
	slow <- "finished"
	if err := errors.Join(<-inFlight, s.Drain(t.Context())); err != nil {
		t.Error(err)
	}
	if err := dial(t, api); err == nil {
		t.Error("the API accepts connections after Drain")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestSlowClients serves with the limits of a server, a hundredth as long. Clients that send headers
// or a body too slowly must be cut off. An idle connection must not delay the end.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	bodies := make(chan error, 1)
	one := newServer(t.Context(), http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		bodies <- err
	}), slog.New(slog.DiscardHandler))
	for _, limit := range []*time.Duration{&one.ReadHeaderTimeout, &one.ReadTimeout, &one.WriteTimeout, &one.IdleTimeout} {
		if *limit <= 0 {
			t.Fatalf("a limit is missing: %+v", one)
		}
		*limit /= 100
	}
	l, err := listenOn(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- one.Serve(l) }()
	send := func(text string) net.Conn {
		t.Helper()
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		if _, err := io.WriteString(conn, text); err != nil {
			t.Fatal(err)
		}
		return conn
	}
	header := send("GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
	if answer, err := io.ReadAll(header); err != nil || len(answer) > 0 {
		t.Errorf("slow header: answer %q, %v", answer, err)
	}
	body := send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
	if err := <-bodies; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("slow body: the handler reads %v", err)
	}
	if answer, err := io.ReadAll(body); err != nil || !strings.Contains(string(answer), "Connection: close") {
		t.Errorf("slow body: answer %q, %v", answer, err)
	}
	idle := send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if err := <-bodies; err != nil {
		t.Error(err)
	}
	if _, err := http.ReadResponse(bufio.NewReader(idle), nil); err != nil { //nolint:bodyclose // it is empty
		t.Error(err)
	}
	if err := errors.Join(one.Shutdown(t.Context()), l.Close()); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}

// TestRefuseNewKeepsBegunConnections checks that a listener which refuses new connections still
// hands out the connections that the kernel had established, and refuses others once it is
// closed.
func TestRefuseNewKeepsBegunConnections(t *testing.T) {
	t.Parallel()
	l, err := listenOn(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	begun, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer begun.Close() //nolint:errcheck // only read from
	if err := refuseNew(l); err != nil {
		t.Fatal(err)
	}
	refused := make(chan error, 1)
	go func() { refused <- dial(t, l.Addr().String()) }()
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := accepted.Write([]byte("x")); err != nil {
		t.Error(err)
	}
	if n, err := begun.Read(make([]byte, 1)); n != 1 || err != nil {
		t.Errorf("the begun connection: %d bytes, %v", n, err)
	}
	if err := errors.Join(accepted.Close(), l.Close()); err != nil {
		t.Error(err)
	}
	if err := <-refused; err == nil {
		t.Error("a new connection was established")
	}
}
