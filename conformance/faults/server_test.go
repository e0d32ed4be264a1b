package faults

import (
	"bufio"
	"cmp"
	"context"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config/configtest"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/passwords"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

// serverVariable is an environment variable with a life as JSON. If it is set, the test binary
// only runs a server, as a process that a test can kill.
const serverVariable = "MAILHELM_FAULTS_SERVER"

func TestMain(m *testing.M) {
	if text := os.Getenv(serverVariable); text != "" {
		if err := serveUntilKilled(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	slog.SetDefault(slog.New(slog.DiscardHandler)) // libraries log to it
	os.Exit(m.Run())
}

// life says how a server process runs.
type life struct {
	DataDir, DatabaseURL string
	// Ahead is how far the clock of the process is ahead.
	Ahead time.Duration
	// Faults are those of the simulated account.
	Faults []simulator.Fault
	// Roots has the certificate of the webhook endpoint as PEM.
	Roots []byte
	// Role is what the process does; "" means all.
	Role config.Role
	// API is the public URL of the API for a worker, which does not listen there; "" means the
	// address at which the process listens.
	API string
	// CallerWait is how long a write waits for the database; 0 means 30 seconds.
	CallerWait time.Duration
	// BucketTimeout limits a call of a bucket; 0 means 30 seconds.
	BucketTimeout time.Duration
	// Rspamd is the URL of a spam scanner; "" means none.
	Rspamd string
}

// config returns the configuration of a server on free ports of the loopback interface.
func (l life) config() config.Config {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(l.Roots)
	return config.Config{
		DNSServers: []string{"none"}, MailHost: "mx.example.com", WebhookCAs: func() *x509.CertPool { return roots }, WebhookNetworks: []string{"127.0.0.0/8"}, BucketNetworks: []string{"127.0.0.0/8"},
		TrustedProxies: []string{"127.0.0.0/8"}, Role: l.Role, Public: config.Public{API: l.API}, RspamdURL: l.Rspamd, BucketTimeout: l.BucketTimeout,
		DataDir: l.DataDir, DatabaseURL: l.DatabaseURL, Listen: configtest.AnyPorts(), MaxConns: 12, CallerWait: cmp.Or(l.CallerWait, 30*time.Second), PasswordCost: passwords.LeastCost(),
		Clock: func() time.Time { return core.SystemClock().Add(l.Ahead) }, Log: slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
	}
}

// serveUntilKilled runs a server and prints the addresses of its API and of its SMTP server. It returns when standard
// input ends, so that the process does not outlive the test.
func serveUntilKilled(text string) error {
	var l life
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		return err
	}
	h, err := serve.Start(context.Background(), l.config())
	if err != nil {
		return err
	}
	h.Account().Faults().Set(l.Faults...)
	if _, err := fmt.Fprintln(os.Stdout, h.Addresses().API, h.Addresses().SMTP); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// server is a running process.
type server struct {
	cmd *exec.Cmd
	in  io.Closer
	// api is the URL of the API, smtp the host and port at which mail comes in.
	api, smtp string
	log       *os.File
}

// launch starts a server and waits until it is ready.
func launch(t *testing.T, l life) *server {
	t.Helper()
	text, err := json.Marshal(l)
	must(t, err)
	self, err := os.Executable()
	must(t, err)
	s := &server{cmd: exec.Command(self)}
	s.log, err = os.CreateTemp(t.TempDir(), "log-")
	must(t, err)
	s.cmd.Env, s.cmd.Stderr = append(os.Environ(), serverVariable+"="+string(text)), s.log
	s.in, err = s.cmd.StdinPipe()
	must(t, err)
	out, err := s.cmd.StdoutPipe()
	must(t, err)
	must(t, s.cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = s.cmd.Wait() // the log says more
		t.Fatalf("the server did not start: %v\n%s", err, s.logged())
	}
	s.api, s.smtp, _ = strings.Cut(strings.TrimSpace(line), " ")
	return s
}

// kill ends the process without a chance to finish anything.
func (s *server) kill(t *testing.T) {
	t.Helper()
	must(t, s.cmd.Process.Signal(syscall.SIGKILL))
	_ = s.cmd.Wait() // it was killed
	_ = s.in.Close() // its reader has ended
	_ = s.log.Close()
}

// logged returns the end of the log.
func (s *server) logged() string {
	const most = 4000
	text, err := os.ReadFile(s.log.Name())
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-most):])
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
