package fetch

import (
	"net/http"
	"sync"
	"time"
)

// The maximum number of unused connections that a Fetcher with Config.Reuse keeps open: to one
// host, and to all hosts. Each holds a few buffers of TLS and HTTP, about 50 KB.
const (
	maxIdlePerHost = 16
	maxIdle        = 256
)

// reusing is the transport of a Fetcher with Config.Reuse. It begins a new HTTP transport after
// that time, so that no connection serves longer, however busy it is. Otherwise requests could
// go for days to an address that a host name no longer has.
type reusing struct {
	config Config
	now    func() time.Time

	mu      sync.Mutex
	current *http.Transport
	began   time.Time // of current
}

// RoundTrip implements [http.RoundTripper].
func (r *reusing) RoundTrip(request *http.Request) (*http.Response, error) {
	// With an entry that is not sent, the transport repeats a request on another connection if
	// the first one was used before and gave no byte of a response: the host closes connections
	// that it does not want to keep, possibly while a request is on its way.
	request.Header["Idempotency-Key"] = []string{}
	return r.transport().RoundTrip(request)
}

// transport returns the transport for the next request. It closes the unused connections of the
// one before. Those that are in use are closed at the end of their requests.
func (r *reusing) transport() *http.Transport {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := r.now(); r.current == nil || now.Sub(r.began) >= r.config.Reuse {
		r.closeIdle()
		r.current, r.began = newTransport(r.config), now
	}
	return r.current
}

// CloseIdleConnections closes unused connections.
func (r *reusing) CloseIdleConnections() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closeIdle()
}

func (r *reusing) closeIdle() {
	if r.current != nil {
		r.current.CloseIdleConnections()
	}
}
