package fetch

import (
	"net/http"
	"testing"
	"time"
)

// TestTransport checks that the HTTP transport uses no proxy, does not reuse connections,
// does not request compression, and has the limits of the Config.
func TestTransport(t *testing.T) {
	t.Parallel()
	transport, ok := New(Config{Time: time.Second, MaxHeader: 1 << 10}).transport.(*http.Transport)
	if !ok {
		t.Fatal("another transport")
	}
	if transport.Proxy != nil || !transport.DisableKeepAlives || !transport.DisableCompression ||
		transport.MaxResponseHeaderBytes != 1<<10 || transport.TLSHandshakeTimeout != time.Second {
		t.Errorf("%+v", transport)
	}
}
