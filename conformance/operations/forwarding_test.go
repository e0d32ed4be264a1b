package operations

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// backend answers in place of a server of Mailhelm, to see what a proxy sends and whether it
// holds answers back.
type backend struct {
	// more lets the stream of events go on.
	more chan struct{}
	// began gets a value when the head of a slow upload has arrived.
	began chan struct{}
}

func (b *backend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/readyz":
		w.WriteHeader(http.StatusOK)
	case "/events":
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("X-Accel-Buffering", "no")
		fmt.Fprint(w, "data: first\n\n")
		_ = http.NewResponseController(w).Flush() // a recorder in no test
		select {
		case <-b.more:
			fmt.Fprint(w, "data: last\n\n")
		case <-r.Context().Done():
		}
	case "/slow":
		b.began <- struct{}{}
		_, _ = io.Copy(io.Discard, r.Body)
	default:
		n, err := io.Copy(io.Discard, r.Body)
		fmt.Fprintf(w, "%s|%s|%d|%v|%s", r.Host, strings.Join(r.Header["X-Forwarded-For"], ","), n, err, r.URL.RequestURI())
	}
}

// starts starts a proxy by its name. Debian does not have Traefik, so it is among them only if a
// variable names its program.
func starts() map[string]func(*testing.T, behind) *proxy {
	all := map[string]func(*testing.T, behind) *proxy{"nginx": startNginx, "Caddy": startCaddy}
	if traefikProgram() != "" {
		all["Traefik"] = startTraefik
	}
	return all
}

// TestProxiesForward checks the documented configurations: host names, the address of the client,
// uploads, their limit, paths with special characters and streams.
func TestProxiesForward(t *testing.T) {
	t.Parallel()
	for name, start := range starts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &backend{more: make(chan struct{}), began: make(chan struct{}, 1)}
			server := httptest.NewServer(b)
			defer server.Close()
			address := server.Listener.Addr().String()
			_, port, err := net.SplitHostPort(address)
			must(t, err)
			p := start(t, behind{servers: [2]string{address, address}, admin: port})
			client := p.client()
			defer client.CloseIdleConnections()
			for _, host := range names {
				checkForwarded(t, client, host)
			}
			checkUploads(t, client, name)
			checkSlowUpload(t, client, b, name == "nginx")
			checkStream(t, client, b)
		})
	}
}

// checkForwarded checks the host, the address of the client and the path that reach the server.
// A forged address must not be the last.
func checkForwarded(t *testing.T, client *http.Client, host string) {
	t.Helper()
	const path = "/v1/contacts/a%2Bb%40example.com?filter=a%26b"
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+host+path, nil)
	must(t, err)
	r.Header.Set("X-Forwarded-For", "198.51.100.7")
	answer, err := client.Do(r)
	must(t, err)
	text, err := drain(answer)
	must(t, err)
	parts := strings.Split(text, "|")
	if len(parts) != 5 || parts[0] != host || !strings.HasSuffix(parts[1], "127.0.0.1") || parts[4] != path {
		t.Errorf("%s: the server got %s", host, text)
	}
}

// checkUploads checks that the proxy refuses an upload that is too large, and that the largest
// permitted one arrives afterwards: the refusal must not take the servers out of service. Traefik
// refuses none, because it has no limit that would not hold back streams too.
func checkUploads(t *testing.T, client *http.Client, proxy string) {
	t.Helper()
	refused := http.StatusRequestEntityTooLarge
	if proxy == "Traefik" {
		refused = http.StatusOK
	}
	for _, one := range []struct {
		size int64
		want int
	}{{70 << 20, refused}, {51 << 20, http.StatusOK}} {
		size, want := one.size, one.want
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://app.example.com/upload", io.LimitReader(zeros{}, size))
		must(t, err)
		r.ContentLength = size
		r.Header.Set("Expect", "100-continue") // so that a refusal comes before the body
		answer, err := client.Do(r)
		must(t, err)
		text, err := drain(answer)
		must(t, err)
		if answer.StatusCode != want && want == http.StatusOK || want != http.StatusOK && answer.StatusCode < 400 && !strings.Contains(text, "too large") {
			t.Errorf("%d bytes: status %d: %.200s", size, answer.StatusCode, text)
		}
		if want == http.StatusOK && !strings.Contains(text, fmt.Sprintf("|%d|<nil>|", size)) {
			t.Errorf("%d bytes: the server got %.200s", size, text)
		}
	}
}

// checkSlowUpload checks whether the proxy reads an upload completely before it passes it on. A
// server gives up an upload that arrives for longer than 30 seconds.
func checkSlowUpload(t *testing.T, client *http.Client, b *backend, complete bool) {
	t.Helper()
	body, upload := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://app.example.com/slow", body)
		if err != nil {
			ended <- err
			return
		}
		answer, err := client.Do(r)
		if err == nil {
			_, err = drain(answer)
		}
		ended <- err
	}()
	_, err := upload.Write([]byte("first"))
	must(t, err)
	wait := 30 * time.Second
	if complete {
		wait = 100 * time.Millisecond
	}
	select {
	case <-b.began:
		if complete {
			t.Error("the server gets an upload whose end the proxy has not read")
		}
	case <-time.After(wait):
		if !complete {
			t.Error("the proxy holds back an upload, which the guide denies")
		}
	}
	must(t, upload.Close())
	must(t, <-ended)
}

// zeros is a reader of zeros without end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// checkStream checks that an event arrives before the server has written the next one.
func checkStream(t *testing.T, client *http.Client, b *backend) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://mcp.example.com/events", nil)
	must(t, err)
	answer, err := client.Do(r)
	must(t, err)
	defer answer.Body.Close()
	lines := bufio.NewReader(answer.Body)
	first, err := lines.ReadString('\n')
	must(t, err)
	select {
	case b.more <- struct{}{}:
	case <-time.After(30 * time.Second):
		t.Fatal("the server does not wait for the first event to arrive")
	}
	rest, err := io.ReadAll(lines)
	must(t, err)
	if first != "data: first\n" || !strings.Contains(string(rest), "data: last") {
		t.Errorf("events: %q, then %q", first, rest)
	}
}
