package smtpd

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"log/slog"
	"math/big"
	"os"
	"sync"
	"time"
)

// selfSignedFor is how long a self-signed certificate is valid. A server makes a new one at
// each start.
const selfSignedFor = 10 * 365 * 24 * time.Hour

// SelfSigned returns a TLS configuration with a new self-signed certificate for a host name.
// Servers that send mail encrypt with any certificate, unless the domain of the recipient
// publishes a policy (RFC 7435, RFC 8461).
func SelfSigned(host string, now time.Time) (*tls.Config, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	const serialBits = 127
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), serialBits))
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: host}, DNSNames: []string{host},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(selfSignedFor),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	return configOf(func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
	}), nil
}

// FromFiles returns a TLS configuration with the certificate chain and the key in two PEM files.
// It reads the files again when they change. If the changed files cannot be used, it logs an
// error and keeps the certificate that it has.
func FromFiles(certificate, key string, log *slog.Logger) (*tls.Config, error) {
	f := &certificateFiles{certificate: certificate, key: key, log: log}
	if err := f.load(); err != nil {
		return nil, err
	}
	return configOf(f.get), nil
}

func configOf(get func(*tls.ClientHelloInfo) (*tls.Certificate, error)) *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: get}
}

// certificateFiles has the certificate of two files.
type certificateFiles struct {
	certificate, key string
	log              *slog.Logger

	mu      sync.Mutex
	loaded  *tls.Certificate
	version string // of the files that were read last
}

// get returns the certificate for a handshake.
func (f *certificateFiles) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if version := f.versionOfFiles(); version != f.version {
		if err := f.read(version); err != nil {
			f.log.Error("smtp: the changed certificate cannot be used, the previous one stays", "error", err)
		}
	}
	return f.loaded, nil
}

func (f *certificateFiles) load() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.read(f.versionOfFiles())
}

// read reads both files. After a failure it waits for the next change.
func (f *certificateFiles) read(version string) error {
	f.version = version
	pair, err := tls.LoadX509KeyPair(f.certificate, f.key)
	if err != nil {
		return err
	}
	f.loaded = &pair
	return nil
}

// versionOfFiles returns a text that changes with the files.
func (f *certificateFiles) versionOfFiles() string {
	version := ""
	for _, name := range []string{f.certificate, f.key} {
		if info, err := os.Stat(name); err == nil {
			version += fmt.Sprintf("%d %d;", info.ModTime().UnixNano(), info.Size())
		}
	}
	return version
}
