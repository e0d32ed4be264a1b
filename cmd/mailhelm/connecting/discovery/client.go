package discovery

import (
	"net/http"
	"time"
)

const (
	// requestTimeout is the time limit of one request for metadata or tokens.
	requestTimeout = 30 * time.Second
	// handshakeTimeout is the time limit of a TLS handshake.
	handshakeTimeout = 10 * time.Second
)

// Client returns an HTTP client for tokens at an endpoint that was checked before. It
// follows no redirects: a secret is sent only to the address that the metadata names. It
// connects to every IP address; see [Server.HTTP] for endpoints that were found just now.
func Client() *http.Client { return clientOf(Transport(requestTimeout)) }

func clientOf(t *http.Transport) *http.Client {
	return &http.Client{
		Timeout:       requestTimeout,
		Transport:     t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Transport returns a transport that uses the proxy of the environment and waits for the
// beginning of an answer at most for the given time.
func Transport(answer time.Duration) *http.Transport {
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: handshakeTimeout, IdleConnTimeout: time.Minute,
		ResponseHeaderTimeout: answer, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 4,
	}
}
