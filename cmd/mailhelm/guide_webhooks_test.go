package main

import (
	"context"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// webhookGuide is the guide whose programs and commands the test runs.
const webhookGuide = "../../rest/docs/guides/event-webhooks.md"

// receivers are the languages of the guide's programs, with the names of their files and the
// commands that run them.
var receivers = []struct {
	language, file string
	command        []string
}{
	{"python", "receiver.py", []string{"python3"}},
	{"javascript", "receiver.mjs", []string{"node"}},
	{"go", "receiver.go", []string{"go"}},
}

// TestGuideOfWebhooks runs each receiver of the guide behind an https server on the loopback,
// and the guide's commands beside a running server. The receiver must print the test event,
// and refuse a request with another signature.
func TestGuideOfWebhooks(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile(webhookGuide)
	if err != nil {
		t.Fatal(err)
	}
	front := newFront(t)
	s := newShell(t, false)
	launchServe(t, []string{"SSL_CERT_FILE=" + front.certificate}, append([]string{"--webhook-networks", "127.0.0.0/8"}, s.where...)...)
	s.mustRun("org", "create", "acme")
	commands := strings.Split(strings.TrimSpace(strings.Join(blocks(string(guide), "shell"), "")), "\n")
	if len(commands) != 3 {
		t.Fatalf("the guide has the commands %q, want create, test and deliveries", commands)
	}
	for _, r := range receivers {
		if _, err := exec.LookPath(r.command[0]); err != nil {
			enginetest.SkipMissing(t, r.command[0]+" is not on this machine: a program of the guide cannot run")
		}
		address := front.server.URL + "/" + r.language
		run := func(command string, more ...string) string {
			command = strings.ReplaceAll(command, "https://crm.example.com/mailhelm", address)
			args, found := strings.CutPrefix(command, "mailhelm admin ")
			if !found {
				t.Fatalf("%q is not a command of mailhelm admin", command)
			}
			return s.mustRun(append(strings.Fields(args), more...)...)
		}
		created := run(commands[0])
		secret := regexp.MustCompile(`whsec_\S+`).FindString(created)
		program := startReceiver(t, r.file, blocks(string(guide), r.language), r.command, secret)
		front.serves("/"+r.language, program.port)
		id := field(run(commands[1], "--json"), "id")
		program.awaits(id + " bounced recipient@example.com")
		awaitText(t, "delivered", func() string { return run(commands[2]) })
		if status := front.forge("/" + r.language); status != http.StatusUnauthorized {
			t.Errorf("%s: a forged request gets the status %d", r.language, status)
		}
	}
}

// field returns a member of a printed JSON object whose value is a string.
func field(object, name string) string {
	m := regexp.MustCompile(`"` + name + `": "([^"]*)"`).FindStringSubmatch(object)
	if m == nil {
		return ""
	}
	return m[1]
}

// awaitText calls read until the result contains text, for at most 20 seconds.
func awaitText(t *testing.T, text string, read func() string) {
	t.Helper()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	end := time.After(20 * time.Second)
	for {
		got := read()
		if strings.Contains(got, text) {
			return
		}
		select {
		case <-ticker.C:
		case <-end:
			t.Fatalf("no %q:\n%s", text, got)
		}
	}
}

// front is an https server on the loopback that passes requests to receivers by path.
type front struct {
	server      *httptest.Server
	mux         *http.ServeMux
	certificate string // file
}

func newFront(t *testing.T) *front {
	t.Helper()
	f := &front{mux: http.NewServeMux(), certificate: filepath.Join(t.TempDir(), "ca.pem")}
	f.server = httptest.NewTLSServer(f.mux)
	t.Cleanup(f.server.Close)
	encoded := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: f.server.Certificate().Raw})
	if err := os.WriteFile(f.certificate, encoded, 0o600); err != nil {
		t.Fatal(err)
	}
	return f
}

// serves passes requests for a path to the receiver at a port.
func (f *front) serves(path string, port int) {
	f.mux.Handle(path, httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: fmt.Sprintf("127.0.0.1:%d", port)}))
}

// forge sends a request with a signature of another secret and returns the status.
func (f *front) forge(path string) int {
	r, err := http.NewRequest(http.MethodPost, f.server.URL+path, strings.NewReader(`{"type":"bounced","data":{}}`)) //nolint:noctx // the client of the test server
	if err != nil {
		return 0
	}
	r.Header.Set("webhook-id", "forged")
	r.Header.Set("webhook-timestamp", fmt.Sprint(time.Now().Unix()))
	r.Header.Set("webhook-signature", "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=")
	a, err := f.server.Client().Do(r)
	if err != nil {
		return 0
	}
	defer a.Body.Close()
	return a.StatusCode
}

// receiverProcess is a running program of the guide.
type receiverProcess struct {
	t      *testing.T
	port   int
	output *transcript
	ended  chan struct{}
}

// startReceiver writes a program of the guide to a file and runs it until the test ends. It
// returns when the program listens.
func startReceiver(t *testing.T, file string, source, command []string, secret string) *receiverProcess {
	t.Helper()
	if len(source) != 1 {
		t.Fatalf("the guide has %d programs for %s, want 1", len(source), file)
	}
	path := filepath.Join(t.TempDir(), file)
	if err := os.WriteFile(path, []byte(source[0]), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &receiverProcess{t: t, port: firstOfSixPorts(t), output: newTranscript(), ended: make(chan struct{})}
	if command[0] == "go" { // the compiled program itself is stopped, not the go command
		built := strings.TrimSuffix(path, ".go")
		if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", built, path).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		command, path = nil, built
	}
	args := append(append([]string{}, command...), path)
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...) // killed when the test ends
	cmd.Env = append(os.Environ(), "WEBHOOK_SECRET="+secret, fmt.Sprint("PORT=", p.port))
	cmd.Stdout, cmd.Stderr = p.output, p.output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		_ = cmd.Wait() // it is killed
	}()
	t.Cleanup(func() { <-p.ended })
	p.awaitPort()
	return p
}

// awaitPort waits until the program accepts connections.
func (p *receiverProcess) awaitPort() {
	p.t.Helper()
	awaitText(p.t, "listens", func() string {
		var d net.Dialer
		conn, err := d.DialContext(p.t.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", p.port))
		if err != nil {
			return err.Error()
		}
		_ = conn.Close() // only to see that it listens
		return "listens"
	})
}

// awaits waits until the program has printed text.
func (p *receiverProcess) awaits(text string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), startTimeout)
	defer cancel()
	if !p.output.wait(ctx, p.ended, text) {
		p.t.Fatalf("the receiver never printed %q:\n%s", text, p.output)
	}
}
