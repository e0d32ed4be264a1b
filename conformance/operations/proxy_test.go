package operations

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest/daemon"
)

// names are the host names that the documented configurations serve.
var names = []string{"api.example.com", "auth.example.com", "app.example.com", "mcp.example.com", "fetch.example.com", "images.example.net"}

// The addresses of the servers in the documented configurations.
const (
	firstServer, secondServer = "10.0.0.11:8080", "10.0.0.12:8080"
	adminPort                 = "9090"
)

// documented is the folder of the configurations that the documentation shows.
var documented = filepath.Join("..", "..", "rest", "docs", "guides", "proxies")

// proxy is a running proxy.
type proxy struct {
	address string // host:port, for https
	roots   *x509.CertPool
}

// start starts a proxy program and waits until the address answers TLS.
func (p *proxy) start(t *testing.T, command ...string) {
	t.Helper()
	running, err := daemon.Start(daemon.Config{Command: command})
	must(t, err)
	t.Cleanup(func() {
		running.Stop()
		if t.Failed() {
			t.Logf("the proxy said:\n%s", running.Output())
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	dialer := tls.Dialer{Config: &tls.Config{RootCAs: p.roots, ServerName: names[0], MinVersion: tls.VersionTLS12}}
	for {
		conn, err := dialer.DialContext(ctx, "tcp", p.address)
		if err == nil {
			must(t, conn.Close())
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("the proxy does not answer: %v", err)
		}
	}
}

// client returns an HTTP client that sends requests for the documented names to the proxy. It
// makes connections of its own.
func (p *proxy) client() *http.Client {
	return &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, p.address)
		},
		TLSClientConfig: &tls.Config{RootCAs: p.roots, MinVersion: tls.VersionTLS12}, MaxIdleConnsPerHost: 32,
	}}
}

// behind are the servers behind a proxy, and what the test changes further in each documented
// configuration: old text, new text and so on.
type behind struct {
	servers [2]string
	admin   string
	changes map[string][]string
}

// document returns a documented configuration with other addresses. It fails the test if the
// configuration lacks a text to replace.
func (b behind) document(t *testing.T, file string, changes ...string) string {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(documented, file))
	must(t, err)
	text := string(source)
	changes = append(changes, b.changes[file]...)
	changes = append(changes, firstServer, b.servers[0], secondServer, b.servers[1])
	for i := 0; i < len(changes); i += 2 {
		if !strings.Contains(text, changes[i]) {
			t.Fatalf("%s has no %q", file, changes[i])
		}
		text = strings.ReplaceAll(text, changes[i], changes[i+1])
	}
	return text
}

// startNginx starts nginx with the documented configuration.
func startNginx(t *testing.T, b behind) *proxy {
	t.Helper()
	program := find(t, "nginx", "nginx-light")
	dir, p := t.TempDir(), &proxy{address: freeAddress(t)}
	certificate, key := p.certify(t, dir)
	text := b.document(t, "nginx.conf", "listen 443", "listen "+p.address, "listen 80", "listen "+freeAddress(t),
		"/etc/ssl/mailhelm/fullchain.pem", certificate, "/etc/ssl/mailhelm/privkey.pem", key)
	must(t, os.WriteFile(filepath.Join(dir, "mailhelm.conf"), []byte(text), 0o600))
	user := "" // only root may set it
	if os.Getuid() == 0 {
		user = "user root;"
	}
	folders := ""
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		folders += fmt.Sprintf("%s_temp_path %s;\n", kind, filepath.Join(dir, kind))
	}
	main := fmt.Sprintf("%s daemon off; worker_processes 2; pid %s; error_log stderr warn;\nevents { worker_connections 1024; }\nhttp { access_log off;\n%s include %s; }\n",
		user, filepath.Join(dir, "pid"), folders, filepath.Join(dir, "mailhelm.conf"))
	path := filepath.Join(dir, "nginx.conf")
	must(t, os.WriteFile(path, []byte(main), 0o600))
	p.start(t, program, "-e", "stderr", "-p", dir, "-c", path)
	return p
}

// startCaddy starts Caddy with the documented configuration. It uses a certificate of the test,
// because Caddy would otherwise request some.
func startCaddy(t *testing.T, b behind) *proxy {
	t.Helper()
	program := find(t, "caddy", "caddy")
	dir, p := t.TempDir(), &proxy{address: freeAddress(t)}
	certificate, key := p.certify(t, dir)
	_, port, err := net.SplitHostPort(p.address)
	must(t, err)
	text := b.document(t, "Caddyfile", names[len(names)-1]+" {", names[len(names)-1]+" {\n\tbind 127.0.0.1\n\ttls "+certificate+" "+key,
		"health_port "+adminPort, "health_port "+b.admin)
	text = fmt.Sprintf("{\n\tadmin off\n\tauto_https disable_redirects\n\thttp_port %s\n\thttps_port %s\n\tstorage file_system %s\n}\n", freePort(t), port, dir) + text
	path := filepath.Join(dir, "Caddyfile")
	must(t, os.WriteFile(path, []byte(text), 0o600))
	p.start(t, "env", "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_DATA_HOME="+dir, program, "run", "--config", path, "--adapter", "caddyfile")
	return p
}

// find returns the path of a program, or skips the test; a missing program is a failure in CI.
func find(t *testing.T, program, debian string) string {
	t.Helper()
	for _, candidate := range []string{program, "/usr/sbin/" + program} {
		if path, err := exec.LookPath(candidate); err == nil && enginetest.Services() {
			return path
		}
	}
	enginetest.SkipMissing(t, "PROXY TESTS SKIPPED: "+program+" is not installed; apt-get install "+debian)
	return ""
}

// freeAddress returns an address of the loopback on which no program listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	must(t, l.Close())
	return l.Addr().String()
}

// freePort returns a port of the loopback on which no program listens.
func freePort(t *testing.T) string {
	t.Helper()
	_, port, err := net.SplitHostPort(freeAddress(t))
	must(t, err)
	return port
}

// certify writes a self-signed certificate for the documented names and its key.
func (p *proxy) certify(t *testing.T, dir string) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		DNSNames: names, IsCA: true, BasicConstraintsValid: true,
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	must(t, err)
	parsed, err := x509.ParseCertificate(signed)
	must(t, err)
	p.roots = x509.NewCertPool()
	p.roots.AddCert(parsed)
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	must(t, err)
	certificate, key = filepath.Join(dir, "fullchain.pem"), filepath.Join(dir, "privkey.pem")
	must(t, os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}), 0o600))
	must(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}), 0o600))
	return certificate, key
}

// drain reads and closes the body of an answer.
func drain(answer *http.Response) (string, error) {
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return string(text), err
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
