package notify

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	keyBits   = 2048
	validFor  = 10 * 365 * 24 * time.Hour
	validFrom = -24 * time.Hour
)

// identity is the key with which a Publisher signs notifications, and its certificate.
type identity struct {
	key         *rsa.PrivateKey
	certificate []byte // PEM
	address     string // the URL of the certificate
}

// newIdentity returns a new key with a self-signed certificate for sns.amazonaws.com. The
// URL of the certificate has the format of SNS.
func newIdentity(now time.Time) (identity, error) {
	key, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		return identity{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "sns.amazonaws.com"}, DNSNames: []string{"sns.amazonaws.com"},
		NotBefore: now.Add(validFrom), NotAfter: now.Add(validFor), KeyUsage: x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return identity{}, err
	}
	sum := sha256.Sum256(der)
	return identity{
		key: key, certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		address: "https://sns." + defaultRegion + ".amazonaws.com/SimpleNotificationService-" + hex.EncodeToString(sum[:16]) + ".pem",
	}, nil
}

// Certificate returns, in PEM, the certificate that verifies the signatures of this
// Publisher.
func (p *Publisher) Certificate() ([]byte, error) {
	own, err := p.identity()
	return bytes.Clone(own.certificate), err
}

// SigningCertURL returns the URL of the certificate in notifications. Only RoundTrip of
// this Publisher serves the URL.
func (p *Publisher) SigningCertURL() (string, error) {
	own, err := p.identity()
	return own.address, err
}

// Key returns the public key of the certificate at the URL. It fails with ErrNotMine if the
// URL is not SigningCertURL of this Publisher.
func (p *Publisher) Key(_ context.Context, certificateURL string) (*rsa.PublicKey, error) {
	own, err := p.identity()
	if err != nil {
		return nil, err
	}
	if certificateURL != own.address {
		return nil, ErrNotMine
	}
	return &own.key.PublicKey, nil
}

// Confirm confirms a subscription with the link of the notification that Subscribe posted.
// It fails with ErrNotMine if this Publisher has not issued the link for the topic. It may
// be repeated.
func (p *Publisher) Confirm(_ context.Context, subscribeURL, topicARN string) error {
	link, err := url.Parse(subscribeURL)
	if err != nil {
		return ErrNotMine
	}
	query := link.Query()
	token := query.Get("Token")
	p.mu.Lock()
	defer p.mu.Unlock()
	s, known := p.tokens[token]
	if !known || s.TopicARN != topicARN || subscribeURL != p.subscribeURL(s, token) {
		return ErrNotMine
	}
	p.taken[s] = true
	return nil
}

// RoundTrip serves the URLs of SNS in this process: the certificate and the confirmation
// links. A receiver uses the Publisher as the transport of its HTTP client. Other URLs get
// 404.
func (p *Publisher) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
	own, err := p.identity()
	if err != nil {
		return nil, err
	}
	status, body := http.StatusNotFound, ""
	address := r.URL.String()
	switch {
	case r.Method != http.MethodGet:
		status = http.StatusMethodNotAllowed
	case address == own.address:
		status, body = http.StatusOK, string(own.certificate)
	case p.Confirm(r.Context(), address, r.URL.Query().Get("TopicArn")) == nil:
		status, body = http.StatusOK, "<ConfirmSubscriptionResponse/>"
	}
	return &http.Response{
		Status: http.StatusText(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{},
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: r,
	}, nil
}
