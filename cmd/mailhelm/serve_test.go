package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

func TestServeStartsEmptyAndClosed(t *testing.T) {
	t.Parallel()
	eachWithServer(t, func(t *testing.T, _ shell, server *process, port int) {
		api := fmt.Sprintf("http://localhost:%d", port)
		health := request(t, http.MethodGet, api+"/v1/_health", "", "")
		var body struct{ Status, Commit, Time string }
		if err := json.Unmarshal([]byte(health.body), &body); err != nil || health.status != 200 || body.Status != "ok" || body.Commit == "" {
			t.Errorf("health: %d %s", health.status, health.body)
		}
		for _, bearer := range []string{"", "sk_live_" + strings.Repeat("A", 52)} {
			a := request(t, http.MethodGet, api+"/v1/contacts", bearer, "")
			if a.status != 401 || a.header.Get("WWW-Authenticate") == "" || !strings.Contains(a.body, "invalid_key") {
				t.Errorf("contacts with credential %.8q: %d %s", bearer, a.status, a.body)
			}
		}
		ready := request(t, http.MethodGet, fmt.Sprintf("http://localhost:%d/readyz", port+5), "", "")
		if ready.status != 200 || !strings.Contains(ready.body, `"migrations":"ok"`) {
			t.Errorf("readiness: %d %s", ready.status, ready.body)
		}
		if r := runWith(t, nil, "ready", "--port", strconv.Itoa(port)); r.status != cli.ExitOK || r.stdout != "ready\n" {
			t.Errorf("the command ready: status %d: %s%s", r.status, r.stdout, r.stderr)
		}
		if strings.Contains(server.stderr.String(), `"level":"WARN"`) || strings.Contains(server.stderr.String(), `"level":"ERROR"`) {
			t.Errorf("an uneventful start warns:\n%s", server.stderr)
		}
	})
}

func TestRolesShareOneDatabase(t *testing.T) {
	t.Parallel()
	database, dir := enginetest.PostgresURL(t), filepath.Join(t.TempDir(), "data")
	worker, port := launchServe(t, []string{"MAILHELM_DATABASE_URL=" + database}, "--data", dir, "--role", "worker")
	if a := request(t, http.MethodGet, fmt.Sprintf("http://localhost:%d/readyz", port+5), "", ""); a.status != 200 {
		t.Errorf("worker's readiness: %d %s", a.status, a.body)
	}
	if conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
		conn.Close() //nolint:errcheck // should not be open
		t.Error("a worker listens on the API's port")
	}
	_, port = launchServe(t, []string{"MAILHELM_DATABASE_URL=" + database}, "--data", dir, "--role", "api")
	if a := request(t, http.MethodGet, fmt.Sprintf("http://localhost:%d/v1/_health", port), "", ""); a.status != 200 {
		t.Errorf("API: %d %s", a.status, a.body)
	}
	worker.exit()
}

func TestRoleWithoutPostgresIsRefused(t *testing.T) {
	t.Parallel()
	p := launch(t, nil, "serve", "--role", "api", "--data", t.TempDir())
	if !p.waits() || p.cmd.ProcessState.ExitCode() != cli.ExitFailure || !strings.Contains(p.stderr.String(), "--database-url") {
		t.Errorf("status %v:\n%s", p.cmd.ProcessState, p.stderr)
	}
}

func TestTakenPortIsOneClearError(t *testing.T) {
	t.Parallel()
	port := firstOfSixPorts(t)
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port+2))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // the test is over
	dir := filepath.Join(t.TempDir(), "data")
	p := launch(t, nil, "demo", "--data", dir, "--port", strconv.Itoa(port))
	if !p.waits() || p.cmd.ProcessState.ExitCode() != cli.ExitFailure {
		t.Fatalf("it started all the same:\n%s", p.stderr)
	}
	output := p.stderr.String()
	if strings.Count(output, "\n") != 1 || !strings.Contains(output, strconv.Itoa(port+2)) || !strings.Contains(output, "--port ") {
		t.Errorf("want one line naming port and flag, got:\n%s", output)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the data folder was made before the ports were known to be free (%v)", err)
	}
}

// halfSent is an API call of which the header was sent, but not the body. It stays in
// flight until the test writes the body, in the field rest, to conn.
type halfSent struct {
	conn net.Conn
	rest string
}

func sendHalf(t *testing.T, d demoOutput) halfSent {
	t.Helper()
	body := `{"email":"inflight@example.com"}`
	conn, err := net.Dial("tcp", strings.TrimPrefix(d["base_url"], "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() }) //nolint:errcheck // may be closed already
	// The server sends status 100 when the handler begins to read the body. After that
	// response the call is certainly in flight.
	fmt.Fprintf(conn, "POST /v1/contacts HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", d["api_key"], len(body))
	status, err := bufio.NewReader(io.LimitReader(conn, 25)).ReadString('\n')
	if err != nil || !strings.Contains(status, "100") {
		t.Fatalf("got %q %v, want 100 Continue", status, err)
	}
	return halfSent{conn, body}
}

func TestTerminationFinishesCallsInFlight(t *testing.T) {
	t.Parallel()
	p, d := newServers(t, false).launch()
	call := sendHalf(t, d)
	p.signal(syscall.SIGTERM)
	p.awaits("stopping")
	if _, err := io.WriteString(call.conn, call.rest); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(call.conn)
	if err != nil || !strings.HasPrefix(string(text), "HTTP/1.1 201 ") {
		t.Errorf("the call in flight was answered %q %v, want 201", text, err)
	}
	if !p.waits() || p.err != nil {
		t.Errorf("the process ended with %v:\n%s", p.err, p.stderr)
	}
}

func TestSecondSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	p, d := newServers(t, false).launch()
	sendHalf(t, d) // the rest is never sent
	p.signal(syscall.SIGTERM)
	p.awaits("stopping")
	p.signal(syscall.SIGTERM)
	if !p.waits() {
		t.Fatal("it waits for the call in flight")
	}
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() || status.Signal() != syscall.SIGTERM {
		t.Errorf("ended as %v, want by the signal", p.cmd.ProcessState)
	}
}

func TestOneAddressForSeveralHosts(t *testing.T) {
	t.Parallel()
	first := firstOfSixPorts(t)
	shared := fmt.Sprintf("127.0.0.1:%d", first)
	p := launch(t, nil, "serve", "--data", filepath.Join(t.TempDir(), "data"), "--port", strconv.Itoa(first),
		"--api-addr", shared, "--app-addr", shared, "--mcp-addr", shared, "--fetch-addr", shared,
		"--base-url", "https://api.example.com", "--auth-url", "https://auth.example.com", "--app-url", "https://app.example.com",
		"--mcp-url", "https://mcp.example.com", "--fetch-url", "https://fetch.example.com")
	p.awaits(`"msg":"ready"`)
	for _, tc := range []struct {
		host, path string
		status     int
		holds      string
	}{
		{"api.example.com", "/v1/_health", 200, `"status"`},
		{"API.example.com:443", "/v1/_health", 200, `"status"`},
		{"auth.example.com", "/.well-known/oauth-authorization-server", 200, `"https://auth.example.com"`},
		{"app.example.com", "/docs", 200, "<html"},
		{"mcp.example.com", "/mcp/_health", 200, "commit"},
		{"mcp.example.com", "/.well-known/oauth-protected-resource", 200, `"https://mcp.example.com"`},
		{"fetch.example.com", "/_health", 200, "ok"},
		{"auth.example.com", "/v1/_health", 404, ""},
		{"api.example.com", "/mcp/_health", 404, ""},
		{"evil.example.org", "/v1/_health", 421, "https://app.example.com/docs/api/errors/not_found"},
		{shared, "/v1/_health", 421, "host name"},
	} {
		status, body := asHost(t, shared, tc.host, tc.path)
		if status != tc.status || !strings.Contains(body, tc.holds) {
			t.Errorf("%s%s: %d %.200s, want %d with %q", tc.host, tc.path, status, body, tc.status, tc.holds)
		}
	}
}

func asHost(t *testing.T, addr, host, path string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = host
	a, err := ask(r)
	if err != nil {
		t.Fatal(err)
	}
	return a.status, a.body
}
