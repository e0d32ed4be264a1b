// Package emulator runs aws-ses-v2-local, an emulator of Amazon SES v2 by another project.
// Tests call it to check the SES adapter with an independent implementation. The emulator
// implements the API calls that read the account, those about templates, and those that
// send. It emits no events.
package emulator

import (
	"bufio"
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/npm"
)

//go:embed package.json package-lock.json .npmrc
var wanted embed.FS

// runTimeout is the time after which an emulator is killed.
const runTimeout = 60 * time.Second

// Emulator is a running emulator of Amazon SES on the loopback interface. It stops when the
// test ends.
type Emulator struct{ URL string }

// Start starts an emulator that answers the call GetAccount with the given JSON text. On a
// machine without npm it skips the test, or fails it if CI is true.
func Start(t testing.TB, account string) Emulator {
	t.Helper()
	packages, node, dir := npm.Packages(t, wanted), npm.Node(t), t.TempDir()
	// not t.Context: it ends before the cleanup functions run, so the emulator would be
	// killed before cleanup functions that may still use it
	ctx, cancel := context.WithTimeout(context.Background(), runTimeout)
	program := filepath.Join(packages, npm.Modules, "aws-ses-v2-local", "dist", "cli.js")
	cmd := exec.CommandContext(ctx, node, "--import", npm.Loopback(t), program, "--host", "127.0.0.1", "--port", "0")
	complaints := &bytes.Buffer{}
	cmd.Dir, cmd.Stderr, cmd.WaitDelay = dir, complaints, time.Second
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "NO_COLOR=1", "AWS_SES_ACCOUNT=" + account}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // it was killed
	})
	address := addressIn(out)
	if address == "" {
		cancel()
		_ = cmd.Wait()
		t.Fatalf("the emulator did not start:\n%s", complaints.String())
	}
	// reads the output, so that a full pipe does not block the emulator
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return Emulator{URL: address}
}

// addressIn reads the emulator's output up to the line with its URL, and returns the URL
// with 127.0.0.1 in place of localhost. The emulator listens on the IPv4 loopback address
// only.
func addressIn(out io.Reader) string {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if _, address, found := strings.Cut(lines.Text(), "running at "); found {
			return strings.Replace(strings.TrimSpace(address), "localhost", "127.0.0.1", 1)
		}
	}
	return ""
}

// Email is a message as the emulator received it.
type Email struct {
	MessageID   string                         `json:"messageId"`
	From        string                         `json:"from"`
	ReplyTo     []string                       `json:"replyTo"`
	Destination struct{ To, CC, BCC []string } `json:"destination"`
	Subject     string                         `json:"subject"`
	Body        struct{ Text, HTML string }    `json:"body"`
	Headers     []struct{ Name, Value string } `json:"headers"`
}

// Emails returns the messages that the emulator has received. It reads the path /store,
// which the emulator has and Amazon SES does not have.
func (e Emulator) Emails(t testing.TB) []Email {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, e.URL+"/store", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := (&http.Client{Timeout: runTimeout, Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var store struct{ Emails []Email }
	if err := json.NewDecoder(answer.Body).Decode(&store); err != nil {
		t.Fatal(err)
	}
	return store.Emails
}
