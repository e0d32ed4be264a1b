package server

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/guardrails/redisbuckets"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// TestTLSIsVerified checks that a rediss:// connection works only if a trusted CA signed
// the certificate of Redis.
func TestTLSIsVerified(t *testing.T) {
	t.Parallel()
	certificate, key, believed := selfSigned(t)
	server := enginetest.RedisTLS(t, certificate, key)
	for name, tc := range map[string]struct {
		cas  *x509.CertPool
		good bool
	}{"believed": {believed, true}, "unknown": {nil, false}} {
		buckets, err := redisbuckets.Open(redisbuckets.Config{URL: server.URL, CAs: tc.cas})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		_, admitted, err := buckets.Take(ctx, someBucketKey(), 5, 1)
		cancel()
		if admitted != tc.good {
			t.Errorf("%s: admitted %t, %v", name, admitted, err)
		}
		if err := buckets.Close(); err != nil {
			t.Error(err)
		}
	}
}

// selfSigned writes a self-signed certificate for 127.0.0.1 and its private key. It returns
// the paths of the two PEM files and a pool that trusts the certificate.
func selfSigned(t *testing.T) (certificate, key string, believed *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, content []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	certificate, key = write("cert.pem", "CERTIFICATE", signed), write("key.pem", "PRIVATE KEY", secret)
	parsed, err := x509.ParseCertificate(signed)
	if err != nil {
		t.Fatal(err)
	}
	believed = x509.NewCertPool()
	believed.AddCert(parsed)
	return certificate, key, believed
}
