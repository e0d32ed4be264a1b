package doctor_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/doctor"
)

// certify writes a certificate for mx.example.com and its key, and names the files in cfg.
func certify(t *testing.T, cfg *config.Config, from, until time.Time) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"mx.example.com", "mail.example.com"}, NotBefore: from, NotAfter: until}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cfg.SMTPCert, cfg.SMTPKey = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{cfg.SMTPCert: {Type: "CERTIFICATE", Bytes: certificate}, cfg.SMTPKey: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCertificateOfReceiver examines certificates of the SMTP server that are right, that a
// server does not start with, and that senders may refuse.
func TestCertificateOfReceiver(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	last, next := now.AddDate(0, -1, 0), now.AddDate(0, 2, 0)
	for name, tc := range map[string]struct {
		change func(t *testing.T, cfg *config.Config)
		want   doctor.Status
		says   string
	}{
		"none":           {func(_ *testing.T, cfg *config.Config) { cfg.SMTPCert, cfg.SMTPKey = "", "" }, doctor.OK, "made at each start for mx.example.com"},
		"right":          {func(*testing.T, *config.Config) {}, doctor.OK, "valid for mx.example.com until 2026-05-01"},
		"two names":      {func(_ *testing.T, cfg *config.Config) { cfg.SMTPName = "mail.example.com" }, doctor.OK, "valid for mail.example.com"},
		"missing":        {func(_ *testing.T, cfg *config.Config) { cfg.SMTPKey += ".none" }, doctor.Fail, "key.pem.none"},
		"no certificate": {func(_ *testing.T, cfg *config.Config) { cfg.SMTPCert = cfg.SMTPKey }, doctor.Fail, "certificate"},
		"another key": {func(t *testing.T, cfg *config.Config) {
			certificate := cfg.SMTPCert
			certify(t, cfg, last, next)
			cfg.SMTPCert = certificate
		}, doctor.Fail, "does not match"},
		"expired":       {func(t *testing.T, cfg *config.Config) { certify(t, cfg, last, now.Add(-time.Hour)) }, doctor.Warn, "expired on 2026-03-01"},
		"expires soon":  {func(t *testing.T, cfg *config.Config) { certify(t, cfg, last, now.AddDate(0, 0, 13)) }, doctor.Warn, "expires on 2026-03-14"},
		"not valid yet": {func(t *testing.T, cfg *config.Config) { certify(t, cfg, now.AddDate(0, 0, 1), next) }, doctor.Warn, "not valid before 2026-03-02"},
		"greeting":      {func(_ *testing.T, cfg *config.Config) { cfg.SMTPName = "in.example.com" }, doctor.Warn, "is not for in.example.com"},
		"MX": {func(_ *testing.T, cfg *config.Config) {
			cfg.SMTPName, cfg.MailHost = "mx.example.com", "mx2.example.com"
		}, doctor.Warn, "is not for mx2.example.com"},
	} {
		cfg := newConfig(t)
		cfg.Clock, cfg.MailHost = func() time.Time { return now }, "mx.example.com"
		certify(t, &cfg, last, next)
		tc.change(t, &cfg)
		found := certificateChecks(doctor.Examine(t.Context(), cfg, ""))
		if len(found) != 1 || found[0].Status != tc.want || !strings.Contains(found[0].Detail, tc.says) || (found[0].Next == "") != (tc.want == doctor.OK) {
			t.Errorf("%s: %+v, want %s with %q", name, found, tc.want, tc.says)
		}
	}
	worker := newConfig(t)
	worker.Role = config.Worker
	if found := certificateChecks(doctor.Examine(t.Context(), worker, "")); len(found) != 0 {
		t.Errorf("of a worker: %+v", found)
	}
}

func certificateChecks(r doctor.Report) []doctor.Check {
	var found []doctor.Check
	for _, c := range r.Checks {
		if c.Name == "smtp certificate" {
			found = append(found, c)
		}
	}
	return found
}
