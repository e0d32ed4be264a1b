package smtpd_test

import (
	"encoding/pem"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	client "github.com/emersion/go-smtp"
	"github.com/mailhelm/mailhelm/core/inbound/smtpd"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// startForPrograms runs a server with a certificate for localhost, and returns the file of the
// certificate too. The certificate is valid now, because the programs have no injected clock.
func startForPrograms(t *testing.T) (*mx, string) {
	t.Helper()
	config, err := smtpd.SelfSigned("localhost", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "certificate.pem")
	block := pem.Block{Type: "CERTIFICATE", Bytes: certificateOf(t, config).Certificate[0]}
	if err := os.WriteFile(file, pem.EncodeToMemory(&block), 0o600); err != nil {
		t.Fatal(err)
	}
	return start(t, smtpd.Config{TLS: config}), file
}

// program runs a program and returns its output.
func program(t *testing.T, name string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		enginetest.SkipMissing(t, name+" is not on this machine: it cannot send mail to the server")
	}
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// subjects returns the Subject fields of the received messages.
func (m *mx) subjects() []string {
	var subjects []string
	for _, one := range m.intake.Received() {
		for line := range strings.SplitSeq(string(one.Body), "\r\n") {
			if subject, ok := strings.CutPrefix(line, "Subject: "); ok {
				subjects = append(subjects, subject)
			}
		}
	}
	return subjects
}

// TestPython sends mail with smtplib, the client of Python's standard library.
func TestPython(t *testing.T) {
	t.Parallel()
	m, certificate := startForPrograms(t)
	_, port, _ := net.SplitHostPort(m.addr)
	out := program(t, "python3", "testdata/client.py", "localhost", port, certificate)
	if want := "plain starttls smtputf8 8bitmime chunking some"; strings.Join(strings.Fields(out), " ") != want {
		t.Errorf("sent %q, want %s", out, want)
	}
	all := m.intake.Received()
	if got := strings.Join(m.subjects(), " "); got != "plain starttls grüße 8bit chunks some" {
		t.Fatalf("received %s", got)
	}
	if !strings.Contains(string(all[0].Body), "\r\n.\r\n..\r\n.hidden\r\n") {
		t.Errorf("dots were changed: %q", all[0].Body)
	}
	if all[0].Envelope.TLS || !all[1].Envelope.TLS {
		t.Error("the second message alone came by TLS")
	}
	if e := all[2].Envelope; e.Routes[0].LocalPart != "grüße" || !strings.Contains(string(all[2].Body), " with UTF8SMTP ") {
		t.Errorf("SMTPUTF8: %+v", e)
	}
	if !strings.HasSuffix(string(all[3].Body), "\r\ngrüße\r\n") || !strings.HasSuffix(string(all[4].Body), "\r\n.\r\nend\r\n") {
		t.Errorf("8BITMIME and CHUNKING: %q, %q", all[3].Body, all[4].Body)
	}
	if e := all[5].Envelope; e.Sender != "" || len(e.Routes) != 1 {
		t.Errorf("null sender: %+v", e)
	}
}

// TestSwaks sends mail with swaks, which writes the commands itself.
func TestSwaks(t *testing.T) {
	t.Parallel()
	m, _ := startForPrograms(t)
	host, port, _ := net.SplitHostPort(m.addr)
	common := []string{"--server", host, "--port", port, "--helo", "client.example.org", "--from", "ada@example.org", "--to", "inbox@org.example.com", "--timeout", "30"}
	for subject, more := range map[string][]string{"plain": nil, "pipelined": {"--pipeline"}, "encrypted": {"--tls"}, "helo": {"--protocol", "SMTP"}} {
		program(t, "swaks", append(append([]string{"--header", "Subject: " + subject}, common...), more...)...)
		if got := m.subjects(); got[len(got)-1] != subject {
			t.Errorf("received %v, want %s", got, subject)
		}
	}
	for _, one := range m.intake.Received() {
		if one.Envelope.TLS != strings.Contains(string(one.Body), "Subject: encrypted") {
			t.Errorf("TLS %v: %q", one.Envelope.TLS, one.Body)
		}
	}
}

// TestGoSMTP sends mail with the client of github.com/emersion/go-smtp.
func TestGoSMTP(t *testing.T) {
	t.Parallel()
	config := selfSigned(t, "mx.example.com")
	m := start(t, smtpd.Config{TLS: config})
	c, err := client.DialStartTLS(m.addr, clientOf(t, config, "mx.example.com"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // the test is over
	for _, text := range []string{"Subject: one\r\n\r\n.\r\n", "Subject: two\r\n\r\nhello\r\n"} {
		if err := c.SendMail("ada@example.org", []string{"inbox@org.example.com"}, strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Quit(); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(m.subjects(), " "); got != "one two" {
		t.Errorf("received %s", got)
	}
}
