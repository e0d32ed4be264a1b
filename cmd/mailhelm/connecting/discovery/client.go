package discovery

import (
	"net"
	"net/http"
	"time"
)

const (
	// requestTimeout is the time limit of one request for metadata or tokens.
	requestTimeout = 30 * time.Second
	// handshakeTimeout is the time limit of a TLS handshake.
	handshakeTimeout = 10 * time.Second
)

// Client returns an HTTP client for metadata and tokens. It follows no redirects: a secret
// is sent only to the address that the metadata names. It has a Transport of its own, so
// that the library of the metadata lets it connect to the private addresses of a company.
func Client() *http.Client {
	return &http.Client{
		Timeout:       requestTimeout,
		Transport:     Transport(requestTimeout),
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

// isLoopback reports whether the host is this machine.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
