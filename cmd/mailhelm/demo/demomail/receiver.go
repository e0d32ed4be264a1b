package demomail

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/standardhooks"
)

const (
	// receiverPath is the path of the URL of the receiver.
	receiverPath = "/orders"
	// certificateLife is longer than a demo runs.
	certificateLife = 365 * 24 * time.Hour
	// maxRequest is the maximum size of a webhook in bytes.
	maxRequest = 4 << 20
	// maxAge is how old a signature may be, as Standard Webhooks recommends.
	maxAge = 5 * time.Minute
	// slowClient limits how long a client may take for a request.
	slowClient = 30 * time.Second
)

// Receiver is an https server on the loopback that gets the webhooks of the demo's receiving
// domains, as a server of the customer would. It verifies each signature and shows the message. It
// refuses mail for the local part "returns", so that the log has deliveries that are tried again.
type Receiver struct {
	// URL is the address of the webhook. The port is another one at each start.
	URL string
	// Certificates returns the system's certificate authorities and that of the receiver. Its first
	// call reads all certificates of the system.
	Certificates func() *x509.CertPool

	out    io.Writer
	server *http.Server

	mu      sync.Mutex
	secrets func(context.Context) ([]string, error)
	shows   bool
}

// ServeReceiver starts a receiver, which writes to out what it gets. It refuses all requests
// until it has secrets; see [Receiver.Accept].
func ServeReceiver(out io.Writer) (*Receiver, error) {
	certificate, err := newCertificate()
	if err != nil {
		return nil, err
	}
	r := &Receiver{out: out, Certificates: sync.OnceValue(func() *x509.CertPool {
		all, err := x509.SystemCertPool()
		if err != nil {
			all = x509.NewCertPool()
		}
		all.AddCert(certificate.Leaf)
		return all
	})}
	listener, err := net.Listen("tcp", loopback+":0") //nolint:noctx // as long as the process
	if err != nil {
		return nil, err
	}
	r.URL = "https://localhost:" + strconv.Itoa(listener.Addr().(*net.TCPAddr).Port) + receiverPath
	r.server = &http.Server{
		Handler: r, ReadTimeout: slowClient, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
	}
	go func() { _ = r.server.ServeTLS(listener, "", "") }() // it ends with Close
	return r, nil
}

// Close stops the server.
func (r *Receiver) Close() { _ = r.server.Close() } // it fails only for a listener that is closed

// Accept lets the receiver take requests that are signed with one of the secrets.
func (r *Receiver) Accept(secrets func(context.Context) ([]string, error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secrets = secrets
}

// Show lets the receiver write the messages that it gets.
func (r *Receiver) Show() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shows = true
}

// delivery has the members of a payload that the receiver reads.
type delivery struct {
	Domain     string                     `json:"domain"`
	Sender     string                     `json:"sender"`
	Recipients []string                   `json:"recipients"`
	Entities   map[string]json.RawMessage `json:"entities"`
	Message    struct {
		Subject     string            `json:"subject"`
		Text        string            `json:"text_body"`
		Attachments []json.RawMessage `json:"attachments"`
	} `json:"message"`
}

// ServeHTTP takes a webhook.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(io.LimitReader(request.Body, maxRequest))
	if err != nil {
		http.Error(w, "the body ended early", http.StatusBadRequest)
		return
	}
	if err := r.verify(request, body); err != nil {
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	var d delivery
	if err := json.Unmarshal(body, &d); err != nil {
		http.Error(w, "the body is not a message", http.StatusBadRequest)
		return
	}
	if slices.ContainsFunc(d.Recipients, func(to string) bool { return strings.HasPrefix(to, "returns@") }) {
		http.Error(w, "The desk for returns is closed.", http.StatusServiceUnavailable)
		return
	}
	r.show(request.Header.Get("webhook-id"), d)
	w.WriteHeader(http.StatusNoContent)
}

// verify checks the signature of a request as Standard Webhooks defines it.
func (r *Receiver) verify(request *http.Request, body []byte) error {
	r.mu.Lock()
	secretsOf := r.secrets
	r.mu.Unlock()
	if secretsOf == nil {
		return errors.New("the receiver has no secrets yet")
	}
	seconds, err := strconv.ParseInt(request.Header.Get("webhook-timestamp"), 10, 64)
	at := time.Unix(seconds, 0)
	if err != nil || core.SystemClock().Sub(at).Abs() > maxAge {
		return errors.New("the timestamp is too old")
	}
	secrets, err := secretsOf(request.Context())
	if err != nil {
		return errors.New("the secrets cannot be read")
	}
	given := strings.Fields(request.Header.Get("webhook-signature"))
	for _, secret := range secrets {
		want, err := standardhooks.Sign(request.Header.Get("webhook-id"), at, body, secret)
		if err == nil && slices.ContainsFunc(given, func(one string) bool { return hmac.Equal([]byte(one), []byte(want)) }) {
			return nil
		}
	}
	return errors.New("the signature is not valid")
}

// maxShown is how much of a text is shown, in characters.
const maxShown = 400

// show writes a message.
func (r *Receiver) show(id string, d delivery) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.shows {
		return
	}
	var entities strings.Builder
	for local, data := range d.Entities {
		fmt.Fprintf(&entities, "Data of %s: %s\n", core.Quotable(local, maxShown), core.Quotable(string(data), maxShown))
	}
	// A failed write to the terminal has no consequence.
	_, _ = fmt.Fprintf(r.out, "\n--- Webhook of %s, signature verified ---\nwebhook-id: %s\nFrom: %s\nTo: %s\nSubject: %s\n%s\n%s\n---\n",
		core.Quotable(d.Domain, maxShown), core.Quotable(id, maxShown), core.Quotable(d.Sender, maxShown), core.Quotable(strings.Join(d.Recipients, ", "), maxShown),
		core.Quotable(d.Message.Subject, maxShown), entities.String(), core.Quotable(d.Message.Text, maxShown))
}

// newCertificate returns a self-signed certificate for localhost.
func newCertificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	now := core.SystemClock()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certificateLife), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	encoded, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, err
	}
	leaf, err := x509.ParseCertificate(encoded)
	return tls.Certificate{Certificate: [][]byte{encoded}, PrivateKey: key, Leaf: leaf}, err
}
