package events

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/sending/simulator/notify"
)

// topics replaces Amazon SNS. It publishes events, signed with a certificate that the
// product trusts. A server on the loopback interface answers the product's requests to
// Amazon's hosts.
type topics struct {
	*notify.Publisher
	options product.Options
	// alter changes the body of each signed message before it is posted to the product; nil
	// leaves the messages unchanged.
	alter func(body []byte) []byte
	posts http.RoundTripper

	mu    sync.Mutex
	asked []string // hosts and paths of the requests that the product sent to Amazon
}

func startTopics(t *testing.T) *topics {
	t.Helper()
	posts := &http.Transport{}
	t.Cleanup(posts.CloseIdleConnections)
	s := &topics{posts: posts}
	var err error
	if s.Publisher, err = notify.New(notify.Config{Client: &http.Client{Transport: postman{s}}}); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewTLSServer(http.HandlerFunc(s.answer))
	t.Cleanup(server.Close)
	s.options.Topics, s.options.TopicCAs = loopbackOnly(t, server), x509.NewCertPool()
	s.options.TopicCAs.AddCert(s.certificate(t))
	return s
}

// loopbackOnly returns an HTTP transport that sends every request to the given server,
// whatever host the URL of the request names.
func loopbackOnly(t *testing.T, server *httptest.Server) http.RoundTripper {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	var dialer net.Dialer
	transport := &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, server.Listener.Addr().String())
		},
		TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "example.com", MinVersion: tls.VersionTLS12},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

func (s *topics) certificate(t *testing.T) *x509.Certificate {
	t.Helper()
	text, err := s.Certificate()
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}

// answer serves the requests that the product sends to Amazon's hosts, and records them.
func (s *topics) answer(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r.Host+r.URL.Path)
	s.mu.Unlock()
	to := *r.URL
	to.Scheme, to.Host = "https", r.Host
	response, err := s.RoundTrip((&http.Request{Method: r.Method, URL: &to}).WithContext(r.Context()))
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer response.Body.Close()
	w.WriteHeader(response.StatusCode)
	_, _ = io.Copy(w, response.Body)
}

// postman is the HTTP transport with which the publisher posts messages to the product. If
// the topics have a function alter, postman applies it to the body of each request.
type postman struct{ of *topics }

func (p postman) RoundTrip(r *http.Request) (*http.Response, error) {
	if p.of.alter == nil {
		return p.of.posts.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	altered := r.Clone(r.Context())
	body = p.of.alter(body)
	altered.Body, altered.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return p.of.posts.RoundTrip(altered)
}

func subscriptionOf(p *product.Product, arn string) notify.Subscription {
	return notify.Subscription{TopicARN: arn, Endpoint: p.BaseURL + "/ingest/ses/" + ingestPath}
}

// through subscribes the product to the SNS topic. It returns a function that publishes an
// event to the product and returns the status of the product's answer.
func (s *topics) through(t *testing.T, p *product.Product) func(*testing.T, string) int {
	t.Helper()
	to := subscriptionOf(p, topic)
	if err := s.Subscribe(t.Context(), to); err != nil || !s.IsConfirmed(to) {
		t.Fatalf("the subscription is not confirmed: %v", err)
	}
	return func(t *testing.T, text string) int {
		t.Helper()
		return status(t, s.Publish(t.Context(), to, text))
	}
}

// status returns the status with which the product answered a published message. err is the
// result of Publish or Subscribe; without an error the status is 202.
func status(t *testing.T, err error) int {
	t.Helper()
	if refusal, ok := errors.AsType[*notify.Refusal](err); ok {
		return refusal.Status
	}
	if err != nil {
		t.Fatal(err)
	}
	return http.StatusAccepted
}

// TestForgedTopics checks that the product refuses messages that were altered or that come
// from another topic or publisher. It must not confirm a subscription to such a topic, and
// must send requests to no host but Amazon's.
func TestForgedTopics(t *testing.T) {
	t.Parallel()
	amazon, stranger := startTopics(t), startTopics(t)
	p := product.Start(t, amazon.options)
	connect(t, p)
	post := amazon.through(t, p)
	delivery := records[1]
	text := delivery.text(t, p.Clock.Now())

	another := subscriptionOf(p, topic+"-of-others")
	if got := status(t, amazon.Subscribe(t.Context(), another)); got != http.StatusUnauthorized || amazon.IsConfirmed(another) {
		t.Errorf("another topic is answered %d, confirmed: %t", got, amazon.IsConfirmed(another))
	}
	// Amazon signs the messages of every customer's topics, so a valid signature alone does
	// not make a topic trusted.
	amazon.alter = alterJSON(t, func(n map[string]any) {
		link, _ := n["SubscribeURL"].(string)
		if err := amazon.Confirm(t.Context(), link, another.TopicARN); err != nil {
			t.Error(err)
		}
	})
	status(t, amazon.Subscribe(t.Context(), another))
	amazon.alter = nil
	if got := status(t, amazon.Publish(t.Context(), another, text)); got != http.StatusUnauthorized {
		t.Errorf("an event of another topic is answered %d", got)
	}
	own := subscriptionOf(p, topic)
	if got := status(t, stranger.Subscribe(t.Context(), own)); got != http.StatusServiceUnavailable || stranger.IsConfirmed(own) {
		t.Errorf("a certificate that Amazon does not publish is answered %d, confirmed: %t", got, stranger.IsConfirmed(own))
	}
	for name, alter := range map[string]func(note map[string]any){
		"altered event": func(n map[string]any) {
			n["Message"] = strings.ReplaceAll(text, delivery.messageID(), "message-forged")
		},
		"another topic named":    func(n map[string]any) { n["TopicArn"] = topic + "-of-others" },
		"certificate elsewhere":  func(n map[string]any) { n["SigningCertURL"] = "https://evil.example/SimpleNotificationService-0.pem" },
		"older signature":        func(n map[string]any) { n["SignatureVersion"] = "1" },
		"nothing of a signature": func(n map[string]any) { delete(n, "Signature") },
	} {
		amazon.alter = alterJSON(t, alter)
		if got := post(t, text); got != http.StatusUnauthorized {
			t.Errorf("%s is answered %d", name, got)
		}
	}
	amazon.alter = alterJSON(t, func(n map[string]any) {
		link, _ := n["SubscribeURL"].(string)
		n["SubscribeURL"] = strings.Replace(link, "https://sns.eu-west-1.amazonaws.com", p.AdminURL, 1)
	})
	if got := status(t, amazon.Subscribe(t.Context(), own)); got != http.StatusUnauthorized {
		t.Errorf("a link to this machine is answered %d", got)
	}
	amazon.alter = nil
	if list, _ := (newScene(t, p)).get(t, "/v1/messages?limit=200")["data"].([]any); len(list) > 0 {
		t.Errorf("stored %v", list)
	}
	if got := post(t, text); got != http.StatusAccepted {
		t.Errorf("the real one is answered %d", got)
	}
	find(t, newScene(t, p).get(t, "/v1/messages?limit=200")["data"], delivery.messageID())
	amazon.askedOnly(t, stranger)
}

// askedOnly checks that the product sent exactly these requests to Amazon: one that
// confirms a subscription, and one for the signing certificate of each publisher. The
// publishers are s and others.
func (s *topics) askedOnly(t *testing.T, others ...*topics) {
	t.Helper()
	want := []string{"sns.eu-west-1.amazonaws.com/"}
	for _, one := range append(others, s) {
		address, unmade := one.SigningCertURL()
		named, err := url.Parse(address)
		if err := errors.Join(unmade, err); err != nil {
			t.Fatal(err)
		}
		want = append(want, named.Host+named.Path)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	got := slices.Clone(s.asked)
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		t.Errorf("asked for %q, want %q", got, want)
	}
}

// alterJSON returns a function that changes a JSON message: it decodes the body, passes the
// members to alter, and encodes them again.
func alterJSON(t *testing.T, alter func(map[string]any)) func([]byte) []byte {
	t.Helper()
	return func(body []byte) []byte {
		var n map[string]any
		if err := json.Unmarshal(body, &n); err != nil {
			t.Error(err)
			return body
		}
		alter(n)
		changed, err := json.Marshal(n)
		if err != nil {
			t.Error(err)
		}
		return changed
	}
}
