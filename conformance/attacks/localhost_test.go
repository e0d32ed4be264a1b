package attacks_test

import (
	"net"
	"net/url"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
)

// TestNoOtherProgramCanListenOnLocalhost checks that no other program can listen on the
// IPv6 address [::1] at a port of the product. The product prints addresses with the name
// localhost, for which clients try [::1] before 127.0.0.1. A program that listens on [::1]
// would therefore receive credentials.
func TestNoOtherProgramCanListenOnLocalhost(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	for _, address := range []string{p.BaseURL, p.AuthURL, p.MCPURL} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if u.Hostname() != "localhost" {
			continue // nothing to check: clients try [::1] only for the name localhost
		}
		l, err := net.Listen("tcp", net.JoinHostPort("::1", u.Port()))
		if err != nil {
			continue // the product itself listens on [::1], or this machine has no IPv6
		}
		l.Close() //nolint:errcheck // it was opened to see whether it can be
		t.Errorf("another user's program can answer for %s", address)
	}
}
