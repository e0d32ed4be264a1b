package ses

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

// maxAnswerBytes is the maximum size of a response. It is far above the largest one: a page
// of a thousand contacts with twenty topics each.
const maxAnswerBytes = 8 << 20

const (
	dialTimeout    = 3 * time.Second
	idleTimeout    = 90 * time.Second
	idleToOneHost  = 32
	maxHeaderBytes = 64 << 10
)

// NewHTTPClient returns an HTTP client for SES that many accounts can share. It keeps idle
// connections open.
func NewHTTPClient() *http.Client {
	return &http.Client{Transport: &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: dialTimeout, KeepAlive: dialTimeout}).DialContext,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    dialTimeout,
		IdleConnTimeout:        idleTimeout,
		MaxIdleConnsPerHost:    idleToOneHost,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}}
}

// boundClient returns a copy of the client that limits the size of responses and follows no
// redirects. SES sends no redirects, and a signed request is for one host only.
func boundClient(client *http.Client) *http.Client {
	if client == nil {
		client = NewHTTPClient()
	}
	next := client.Transport
	if next == nil {
		next = NewHTTPClient().Transport
	}
	return &http.Client{
		Transport:     boundedTransport{next},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

type boundedTransport struct{ next http.RoundTripper }

// RoundTrip sends the request with a copy of its body and limits the size of the response.
// Without the copy, requests could fail: the SDK closes the request's body as soon as the
// response begins, and a transport that still reads this body aborts the response.
func (t boundedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil && r.Body != http.NoBody {
		body, err := io.ReadAll(r.Body)
		if err := errors.Join(err, r.Body.Close()); err != nil {
			return nil, err
		}
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	answer, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	answer.Body = &boundedBody{ReadCloser: answer.Body, remaining: maxAnswerBytes}
	return answer, nil
}

var errTooLong = errors.New("the provider's answer is too long")

// boundedBody is a response body whose reads fail after maxAnswerBytes. They do not return
// io.EOF there, because a cut response would look complete.
type boundedBody struct {
	io.ReadCloser
	remaining int64
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.remaining < 0 {
		return 0, errTooLong
	}
	n, err := b.ReadCloser.Read(p)
	if b.remaining -= int64(n); b.remaining < 0 {
		return 0, errTooLong
	}
	return n, err
}
