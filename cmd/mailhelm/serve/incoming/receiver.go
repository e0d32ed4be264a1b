package incoming

import (
	"crypto/tls"
	"fmt"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inbound/smtpd"
	"github.com/prometheus/client_golang/prometheus"
)

// NewReceiver returns the SMTP server for incoming mail. router and intake get what it receives.
// It reads the files of the certificate, and fails if they cannot be used. Call it once for each
// registry of metrics.
func NewReceiver(cfg config.Config, public config.Public, router inbound.Router, intake inbound.Intake, metrics prometheus.Registerer) (*smtpd.Server, error) {
	name := cfg.ReceiverName(public)
	encryption, err := receiverTLS(cfg, name)
	if err != nil {
		return nil, err
	}
	s := smtpd.New(smtpd.Config{
		Domain: name, Router: router, Intake: intake, TLS: encryption, Count: countReceived(metrics), Clock: cfg.Clock, Log: cfg.Log,
	})
	metrics.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "mailhelm_smtp_connections_open", Help: "Open connections of the SMTP server for incoming mail.",
	}, func() float64 { return float64(s.Open()) }))
	return s, nil
}

// receiverTLS returns the TLS configuration with the configured certificate, or with a new
// self-signed one.
func receiverTLS(cfg config.Config, name string) (*tls.Config, error) {
	if cfg.SMTPCert == "" {
		return smtpd.SelfSigned(name, cfg.Clock())
	}
	encryption, err := smtpd.FromFiles(cfg.SMTPCert, cfg.SMTPKey, cfg.Log)
	if err != nil {
		return nil, fmt.Errorf("--smtp-cert and --smtp-key: %w", err)
	}
	return encryption, nil
}

// countReceived registers the counter of what the SMTP server for incoming mail did, and
// returns the function that counts.
func countReceived(metrics prometheus.Registerer) func(smtpd.Event, smtpd.Outcome) {
	counter := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "mailhelm_smtp_received_total",
		Help: "Connections, recipients and messages of the SMTP server for incoming mail, by event and outcome: accepted, or the reason of the refusal.",
	}, []string{"event", "outcome"})
	metrics.MustRegister(counter)
	for _, e := range []smtpd.Event{smtpd.Connection, smtpd.Recipient, smtpd.Message} {
		for _, o := range smtpd.Outcomes(e) {
			counter.WithLabelValues(string(e), string(o))
		}
	}
	return func(e smtpd.Event, o smtpd.Outcome) { counter.WithLabelValues(string(e), string(o)).Inc() }
}
