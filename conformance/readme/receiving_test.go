package readme

import (
	"bufio"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// received has one entry for each command block in the README's section "Receiving": the texts
// that the output of the block must contain.
var received = [][]string{
	{"482913\n"},
	{`"subject":"Your code is 482913"`, `"codes":["482913"]`, `"kind":"confirm"`, `"spf":"PASS"`, `"cursor":"1"`},
	{`"status":"verified"`, `"value":"10 mx.example.net"`, `"address":"order-2001@orders.example.com"`},
	{`"recipients":["order-2001@orders.example.com"]`, `"outcome":"delivered"`},
}

// checkReceiving runs the commands in the README's section "Receiving", and then those of the
// guide about inboxes. The message to the domain is delivered a moment later, so the last block
// is repeated.
func (d *demo) checkReceiving(t *testing.T) {
	t.Helper()
	text := section(t, "Receiving")
	blocks := Blocks(text, "sh")
	if len(blocks) != len(received) {
		t.Fatalf("the section has %d blocks, %d are promised something", len(blocks), len(received))
	}
	last := len(blocks) - 1
	for i, output := range d.paste(t, programPath(t), append(d.variables(t), blocks[:last]...))[2:] {
		if err := lacks(output, received[i]); err != nil {
			t.Errorf("%s\n%v", blocks[i], err)
		}
	}
	d.await(t, blocks[last], received[last])
	for _, guide := range []string{"inboxes", "receiving-mail"} {
		if address := "http://localhost:8081/docs/guides/" + guide; !strings.Contains(text, address) {
			t.Errorf("the section does not name %s", address)
		}
	}
	d.checkGuide(t, "inboxes", [][]string{
		{""},
		{"@inbox.localhost\n"},
		{""},
		{"482913 https://accounts.example.org/confirm?token=abc\n"},
		{`"subject": "Your code is 482913"`, `"cursor": "1"`, `"kind": "confirm"`},
		{`"pull_url":"http://localhost:`, `"status":"active"`, `"visibility":"private"`},
		{`"text_body":"Or open`, `"cursor":"1"`, `"expires_at":"`},
		{`"codes":["482913"]`},
		{`"deleted": true`},
	})
}

// variables returns the blocks that set the credentials and the token.
func (d *demo) variables(t *testing.T) []string {
	t.Helper()
	return Blocks(section(t, "Try it"), "sh")[:2]
}

// lacks returns an error if the output lacks one of the texts. It ignores blanks after colons.
func lacks(output string, texts []string) error {
	flat := strings.ReplaceAll(output, `": `, `":`)
	for _, text := range texts {
		if !strings.Contains(flat, strings.ReplaceAll(text, `": `, `":`)) {
			return fmt.Errorf("the output lacks %s:\n%s", text, output)
		}
	}
	return nil
}

// await runs a block again and again until its output contains the texts, for at most 20
// seconds. It returns the output.
func (d *demo) await(t *testing.T, block string, texts []string) string {
	t.Helper()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	end := time.After(20 * time.Second)
	for {
		outputs, err := d.tryPaste(programPath(t), append(d.variables(t)[:1], block))
		if err == nil {
			err = lacks(outputs[1], texts)
		}
		if err == nil {
			return outputs[1]
		}
		select {
		case <-ticker.C:
		case <-end:
			t.Fatalf("%s\n%v", block, err)
		}
	}
}

// hook is an https server on the loopback in front of the receiver of a guide.
type hook struct {
	server      *httptest.Server
	certificate string // file

	mu      sync.Mutex
	handler http.Handler
}

func newHook(t *testing.T) *hook {
	t.Helper()
	h := &hook{certificate: filepath.Join(t.TempDir(), "ca.pem"), handler: http.NotFoundHandler()}
	h.server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		next := h.handler
		h.mu.Unlock()
		next.ServeHTTP(w, r)
	}))
	t.Cleanup(h.server.Close)
	encoded := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.server.Certificate().Raw})
	if err := os.WriteFile(h.certificate, encoded, 0o600); err != nil {
		t.Fatal(err)
	}
	return h
}

// passTo passes requests to the receiver at a port.
func (h *hook) passTo(port int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.handler = httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: fmt.Sprintf("127.0.0.1:%d", port)})
}

// forge sends a request with a signature of another secret and returns the status.
func (h *hook) forge(t *testing.T) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.server.URL, strings.NewReader(`{"message":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("webhook-id", "forged")
	r.Header.Set("webhook-timestamp", fmt.Sprint(time.Now().Unix()))
	r.Header.Set("webhook-signature", "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=")
	answer, err := h.server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

// checkReceivingGuide runs the commands of the guide about receiving domains, and its receiver
// behind the hook. The receiver must print the mail that the commands send, and refuse a forged
// request.
func (d *demo) checkReceivingGuide(t *testing.T, h *hook) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		enginetest.SkipMissing(t, "python3 is not on this machine: the receiver of the guide cannot run")
	}
	guide := strings.ReplaceAll(d.guide(t, "receiving-mail"), "https://example.com/mail", h.server.URL)
	commands, programs := Blocks(guide, "shell"), Blocks(guide, "python")
	if len(commands) != 8 || len(programs) != 1 {
		t.Fatalf("the guide has %d commands and %d programs", len(commands), len(programs))
	}
	d.await(t, commands[0], []string{`"status":"pending_dns"`, `"type":"MX"`, `"name":"in.example.com"`, `"value":"10 `, `"webhook":null`})
	d.await(t, commands[1], []string{`"status":"verified"`, `"last_error":null`})
	secret := secretIn(d.await(t, commands[2], []string{`"hmac_secret":"whsec_`, `"allow_patterns":["support","orders-*"]`, `"spam_posture":"tag"`, `"virus_posture":"drop"`}))
	lines := startReceiver(t, h, programs[0], secret)
	d.await(t, commands[3], []string{`"status":"published"`})
	d.await(t, commands[4], []string{`"address":"order-1043@in.example.com"`, `"metadata":{"order":1043}`})
	d.await(t, strings.Replace(commands[3], "in.example.com", "in.example.com/addresses", 1), []string{`"local_part":"order-1043"`})
	d.await(t, commands[5], nil) // refused until the SMTP server knows the domain
	const want = `['order-1043@in.example.com'] Where is my order? {'order-1043': {'order': 1043}}`
	select {
	case line := <-lines:
		if line != want {
			t.Errorf("the receiver prints %q, want %q", line, want)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the receiver prints nothing")
	}
	if status := h.forge(t); status != http.StatusUnauthorized {
		t.Errorf("a forged request gets the status %d", status)
	}
	d.await(t, commands[6], []string{`"subject":"Where is my order?"`, `"outcome":"delivered"`, `"verdicts":{"spf":"PASS"`})
	if next := secretIn(d.await(t, commands[7], []string{`"hmac_secret":"whsec_`})); next == secret {
		t.Error("the rotation returns the same secret")
	}
}

// secretIn returns the secret in an answer.
func secretIn(answer string) string { return regexp.MustCompile(`whsec_[^"]+`).FindString(answer) }

// startReceiver runs a Python program behind the hook until the test ends. It returns a channel
// with the lines that the program prints.
func startReceiver(t *testing.T, h *hook, program, secret string) <-chan string {
	t.Helper()
	path, port := filepath.Join(t.TempDir(), "receiver.py"), freeRow(t)
	if err := os.WriteFile(path, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "python3", path) // killed when the test ends
	cmd.Env = append(os.Environ(), "WEBHOOK_SECRET="+secret, fmt.Sprint("PORT=", port))
	out, in := io.Pipe()
	cmd.Stdout = in
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines, ended := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(ended)
		_ = errors.Join(cmd.Wait(), in.Close()) // it is killed
	}()
	go func() {
		for printed := bufio.NewScanner(out); printed.Scan(); {
			select {
			case lines <- printed.Text():
			default: // the test reads one line
			}
		}
	}()
	t.Cleanup(func() { <-ended })
	h.passTo(port)
	return lines
}
