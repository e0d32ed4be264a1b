package ingest_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/rest/ingest"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	"github.com/prometheus/client_golang/prometheus"
)

const (
	topic     = "arn:aws:sns:eu-west-1:111122223333:mailhelm-events"
	certURL   = "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem"
	issuerURL = "http://crt.r2m01.amazontrust.com/r2m01.cer"
	eventKey  = "a-key-for-the-event-bus"
)

var now = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// authority is a certificate authority built like Amazon's. It has a root, an issuer below
// the root, and the certificate with which notifications are signed.
type authority struct {
	roots  *x509.CertPool
	issuer []byte // DER
	leaf   []byte // PEM
	key    *rsa.PrivateKey
}

// The tests share two keys, because creating a key takes long.
var (
	signingKey = sync.OnceValue(newKey)
	foreignKey = sync.OnceValue(newKey)
)

func newKey() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
}

func newAuthority(t *testing.T, key *rsa.PrivateKey, host string, expires time.Time) authority {
	t.Helper()
	sign := func(c, parent *x509.Certificate, public crypto.PublicKey, signer crypto.Signer) []byte {
		c.NotBefore, c.BasicConstraintsValid = now.Add(-time.Hour), true
		der, err := x509.CreateCertificate(rand.Reader, c, parent, public, signer)
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	rootKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	root := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Root"}, NotAfter: expires, IsCA: true, KeyUsage: x509.KeyUsageCertSign}
	rootDER := sign(root, root, rootKey.Public(), rootKey)
	issuer := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "Issuer"}, NotAfter: expires, IsCA: true, KeyUsage: x509.KeyUsageCertSign}
	issuerDER := sign(issuer, root, rootKey.Public(), rootKey)
	leaf := &x509.Certificate{SerialNumber: big.NewInt(3), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host}, NotAfter: expires, IssuingCertificateURL: []string{issuerURL}}
	leafDER := sign(leaf, issuer, key.Public(), rootKey)
	trusted, err := x509.ParseCertificate(rootDER)
	if err != nil {
		t.Fatal(err)
	}
	a := authority{roots: x509.NewCertPool(), issuer: issuerDER, key: key}
	a.roots.AddCert(trusted)
	a.leaf = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leafDER})
	return a
}

// internet is a Fetcher that returns fixed files and records the requested URLs.
type internet struct {
	mu    sync.Mutex
	files map[string][]byte
	asked []string
	// stuck delays every fetch until this channel is closed; nil means no delay.
	stuck chan struct{}
}

var errNoRoute = errors.New("no route to host")

func (i *internet) Get(_ context.Context, address string) ([]byte, error) {
	i.mu.Lock()
	i.asked = append(i.asked, address)
	stuck := i.stuck
	i.mu.Unlock()
	if stuck != nil {
		<-stuck
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if file, ok := i.files[address]; ok {
		return file, nil
	}
	return nil, errNoRoute
}

func (i *internet) requests() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return append([]string{}, i.asked...)
}

// scene is the handler of events with a real database. signer has the certificates and the
// private key with which the tests sign genuine messages, and the root that the handler
// trusts.
type scene struct {
	t        *testing.T
	db       *storage.DB
	handler  http.Handler
	internet *internet
	signer   authority
	log      *bytes.Buffer
	metrics  *prometheus.Registry
	later    *atomic.Int64 // nanoseconds by which the test has advanced the clock
	events   ingest.Config
}

func newScene(t *testing.T) *scene {
	t.Helper()
	return sceneWith(t, newAuthority(t, signingKey(), "sns.amazonaws.com", now.Add(1000*time.Hour)))
}

func sceneWith(t *testing.T, signer authority) *scene {
	t.Helper()
	s := &scene{t: t, db: storagetest.SQLite(t), signer: signer, log: &bytes.Buffer{}, metrics: prometheus.NewRegistry(), later: &atomic.Int64{}}
	s.internet = &internet{files: map[string][]byte{certURL: signer.leaf, issuerURL: signer.issuer}}
	clock := func() time.Time { return now.Add(time.Duration(s.later.Load())) }
	key := sha256.Sum256([]byte(eventKey))
	connections := s.db.Connections(nil)
	for _, c := range []sending.Connection{
		{OrgID: "org-ses", Provider: sending.SES, TopicARN: topic, IngestPath: "path-ses", IngestKeyHash: key[:]},
		{OrgID: "org-simulated", Provider: sending.Simulated, TopicARN: topic, IngestPath: "path-simulated"},
		{OrgID: "org-unpinned", Provider: sending.SES, IngestPath: "path-unpinned"},
	} {
		c.CreatedAt, c.UpdatedAt = now, now
		if err := connections.SaveConnection(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	s.events = ingest.Config{
		Connections: connections, Metrics: s.metrics,
		Events:    messages.NewBatch(messages.New(messages.Config{Store: s.db.Messages(), Transactor: s.db, Clock: clock})),
		Amazon:    ingest.NewAmazon(ingest.AmazonConfig{Fetch: s.internet, Roots: signer.roots, Clock: clock}),
		Simulator: fixedKey{&foreignKey().PublicKey},
		DocsURL:   "https://docs.example", Clock: clock, Log: slog.New(slog.NewTextHandler(s.log, nil)),
	}
	s.handler = ingest.New(s.events)
	return s
}

// note is a message of Amazon SNS as a map, so that a test can alter it.
type note map[string]string

func notification(event string) note {
	return note{
		"Type": "Notification", "MessageId": "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324", "TopicArn": topic, "Message": event,
		"Timestamp": now.Add(-time.Second).Format(time.RFC3339), "SignatureVersion": "2", "SigningCertURL": certURL,
	}
}

func subscription() note {
	n := notification("You have chosen to subscribe to the topic.")
	n["Type"], n["Token"] = "SubscriptionConfirmation", "2336412f37fb687f5d51e6e2425e"
	n["SubscribeURL"] = "https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=" + url.QueryEscape(topic) + "&Token=2336412f37fb687f5d51e6e2425e"
	return n
}

// sign signs the message as the documentation of Amazon SNS specifies, and returns it.
func (n note) sign(t *testing.T, key *rsa.PrivateKey) note {
	t.Helper()
	names := []string{"Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"}
	if n["Type"] != "Notification" {
		names = []string{"Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"}
	}
	var text strings.Builder
	for _, name := range names {
		if value, ok := n[name]; ok {
			text.WriteString(name + "\n" + value + "\n")
		}
	}
	hash, sum := crypto.SHA256, sha256.Sum256([]byte(text.String()))
	digest := sum[:]
	if n["SignatureVersion"] == "1" {
		old := sha1.Sum([]byte(text.String()))
		hash, digest = crypto.SHA1, old[:]
	}
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, hash, digest)
	if err != nil {
		t.Fatal(err)
	}
	n["Signature"] = base64.StdEncoding.EncodeToString(signature)
	return n
}

func (s *scene) post(path string, header map[string]string, body []byte) *httptest.ResponseRecorder {
	s.t.Helper()
	r := httptest.NewRequestWithContext(s.t.Context(), http.MethodPost, "/ingest/ses/"+path, bytes.NewReader(body))
	for name, value := range header {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w
}

func (s *scene) notify(path string, n note) *httptest.ResponseRecorder {
	s.t.Helper()
	return s.post(path, map[string]string{"x-amz-sns-message-type": n["Type"], "Content-Type": "text/plain; charset=UTF-8"}, []byte(asJSON(s.t, n)))
}

func asJSON(t *testing.T, n note) string {
	t.Helper()
	text, err := json.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// countStored returns how many events about a message are stored for an organization.
func (s *scene) countStored(orgID, messageID string) int {
	s.t.Helper()
	all, err := s.db.Messages().MessageEvents(s.t.Context(), orgID, messageID)
	if err != nil {
		s.t.Fatal(err)
	}
	return len(all)
}
