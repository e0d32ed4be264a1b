package smtpd_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net/textproto"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/inbound/smtpd"
)

func selfSigned(t testing.TB, host string) *tls.Config {
	t.Helper()
	config, err := smtpd.SelfSigned(host, receivedAt)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// certificateOf returns the certificate that a configuration shows.
func certificateOf(t testing.TB, config *tls.Config) *tls.Certificate {
	t.Helper()
	certificate, err := config.GetCertificate(&tls.ClientHelloInfo{})
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}

// clientOf returns a client's configuration that trusts the certificate of a server.
func clientOf(t testing.TB, config *tls.Config, host string) *tls.Config {
	t.Helper()
	leaf, err := x509.ParseCertificate(certificateOf(t, config).Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	return &tls.Config{RootCAs: roots, ServerName: host, MinVersion: tls.VersionTLS12, Time: func() time.Time { return receivedAt }}
}

func TestStartTLS(t *testing.T) {
	t.Parallel()
	config := selfSigned(t, "mx.example.com")
	m := start(t, smtpd.Config{TLS: config})
	c := dial(t, m.addr)
	if offered, _ := c.Extension("STARTTLS"); !offered {
		t.Fatal("STARTTLS is not offered")
	}
	if err := c.Mail("before@example.org"); err != nil {
		t.Fatal(err)
	}
	if err := c.StartTLS(clientOf(t, config, "mx.example.com")); err != nil {
		t.Fatal(err)
	}
	if offered, _ := c.Extension("STARTTLS"); offered {
		t.Error("STARTTLS is offered in TLS")
	}
	// The transaction before STARTTLS has ended.
	if err := c.Mail("ada@example.org"); err != nil {
		t.Fatal(err)
	}
	if err := c.Rcpt("inbox@org.example.com"); err != nil {
		t.Fatal(err)
	}
	w, err := c.Data()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("Subject: a\r\n\r\nhello\r\n")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := c.Quit(); err != nil {
		t.Fatal(err)
	}
	got := m.one(t)
	if !got.Envelope.TLS || !strings.Contains(string(got.Body), " with UTF8SMTPS (TLS 1.3 TLS_") && !strings.Contains(string(got.Body), " with ESMTPS (TLS 1.3 TLS_") {
		t.Errorf("TLS %v: %q", got.Envelope.TLS, got.Body)
	}
}

// TestGreetingAfterTLS checks that the client must introduce itself again (RFC 3207 section
// 4.2), and that STARTTLS is refused there.
func TestGreetingAfterTLS(t *testing.T) {
	t.Parallel()
	config := selfSigned(t, "mx.example.com")
	m := start(t, smtpd.Config{TLS: config})
	raw, plain := m.connectRaw(t)
	exchange(t, plain, 501, "STARTTLS now")
	exchange(t, plain, 220, "STARTTLS")
	text := textproto.NewConn(tls.Client(raw, clientOf(t, config, "mx.example.com")))
	exchange(t, text, 503, "MAIL FROM:<ada@example.org>")
	exchange(t, text, 503, "STARTTLS")
	exchange(t, text, 250, "EHLO client.example.org")
	exchange(t, text, 250, "MAIL FROM:<ada@example.org>")
}

// TestInputBeforeTLS checks that commands which follow STARTTLS in plain text, and which an
// attacker on the network may have added, are not executed.
func TestInputBeforeTLS(t *testing.T) {
	t.Parallel()
	m := start(t, smtpd.Config{TLS: selfSigned(t, "mx.example.com")})
	conn := m.connect(t)
	sendRaw(t, conn, "STARTTLS\r\nMAIL FROM:<ada@example.org>\r\n")
	exchange(t, conn, 554, "")
	closed(t, conn)
}

func TestFailedHandshakeEndsTheConnection(t *testing.T) {
	t.Parallel()
	m := start(t, smtpd.Config{TLS: selfSigned(t, "mx.example.com")})
	conn := m.connect(t)
	exchange(t, conn, 220, "STARTTLS")
	sendRaw(t, conn, "MAIL FROM:<ada@example.org>\r\n")
	if line, err := conn.ReadLine(); err == nil && strings.HasPrefix(line, "2") {
		t.Errorf("plain text was executed: %q", line)
	}
}

// writePair writes a certificate and its key as PEM files.
func writePair(t *testing.T, host, certificate, key string) {
	t.Helper()
	pair := certificateOf(t, selfSigned(t, host))
	private, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		certificate: {Type: "CERTIFICATE", Bytes: pair.Certificate[0]}, key: {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func hostOf(t *testing.T, config *tls.Config) string {
	t.Helper()
	leaf, err := x509.ParseCertificate(certificateOf(t, config).Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(leaf.DNSNames)
}

// TestCertificateFiles checks that changed files are read again, and that invalid ones are not
// used.
func TestCertificateFiles(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	certificate, key := filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	log := slog.New(slog.DiscardHandler)
	if _, err := smtpd.FromFiles(certificate, key, log); err == nil {
		t.Fatal("missing files were accepted")
	}
	writePair(t, "one.example.com", certificate, key)
	config, err := smtpd.FromFiles(certificate, key, log)
	if err != nil {
		t.Fatal(err)
	}
	if host := hostOf(t, config); host != "[one.example.com]" {
		t.Errorf("host %s", host)
	}
	if err := os.WriteFile(key, []byte("half of a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	if host := hostOf(t, config); host != "[one.example.com]" {
		t.Errorf("host %s after a broken file", host)
	}
	writePair(t, "two.longer.example.com", certificate, key)
	if host := hostOf(t, config); host != "[two.longer.example.com]" {
		t.Errorf("host %s after a change", host)
	}
}
