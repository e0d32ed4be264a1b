package fetch

import (
	"net/http"
	"testing"
	"time"
)

// A proxy of the environment is not used, and connections, cookies and compressed bodies
// are not kept.
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
