package incoming_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/smtp"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/incoming"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

func testConfig() config.Config {
	return config.Config{MailHost: "mx.example.com", Clock: core.SystemClock, Log: slog.New(slog.DiscardHandler)}
}

// nothing is a router and an intake that accept no recipient and no message.
type nothing struct{}

func (nothing) Route(context.Context, string) (inbound.Route, inbound.Refusal, error) {
	return inbound.Route{}, inbound.NotOurs, nil
}

func (nothing) Accept(context.Context, inbound.Envelope, io.Reader) error {
	return errors.New("no mail is received")
}

// TestReceiver checks the server without routes: its name, STARTTLS, that it relays nothing, and
// its metrics.
func TestReceiver(t *testing.T) {
	t.Parallel()
	metrics := prometheus.NewRegistry()
	s, err := incoming.NewReceiver(testConfig(), config.Public{}, nothing{}, nothing{}, metrics)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	c, err := smtp.Dial(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.StartTLS(&tls.Config{InsecureSkipVerify: true}); err != nil {
		t.Fatal(err)
	}
	if state, ok := c.TLSConnectionState(); !ok || state.PeerCertificates[0].VerifyHostname("mx.example.com") != nil {
		t.Error("the certificate is not for the mail host")
	}
	if err := c.Mail("ada@example.org"); err != nil {
		t.Fatal(err)
	}
	if err := c.Rcpt("someone@elsewhere.example"); err == nil || !strings.Contains(err.Error(), "5.7.1 ") {
		t.Errorf("RCPT: %v, want 550 5.7.1", err)
	}
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, want := range []string{
		"mailhelm_smtp_connections_open 1", `mailhelm_smtp_received_total{event="connection",outcome="accepted"} 1`, `mailhelm_smtp_received_total{event="recipient",outcome="not_ours"} 1`,
	} {
		if !strings.Contains(answer.Body.String(), want+"\n") {
			t.Errorf("the metrics have no %s:\n%s", want, answer.Body)
		}
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	_ = c.Close()
}

func TestMissingCertificate(t *testing.T) {
	t.Parallel()
	cfg := testConfig()
	cfg.SMTPCert = filepath.Join(t.TempDir(), "missing.pem")
	cfg.SMTPKey = cfg.SMTPCert
	_, err := incoming.NewReceiver(cfg, config.Public{}, nothing{}, nothing{}, prometheus.NewRegistry())
	if err == nil || !strings.Contains(err.Error(), "--smtp-cert") {
		t.Errorf("got %v, want an error that names the setting", err)
	}
}
