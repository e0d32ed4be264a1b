package attacks_test

import (
	"net"
	"net/url"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
)

// Printed addresses and tokens say localhost, which has two addresses. A program that
// listens at the other one would receive credentials: clients try [::1] before 127.0.0.1.
func TestNobodyElseIsLocalhost(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	for _, address := range []string{p.BaseURL, p.AuthURL, p.MCPURL} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if u.Hostname() != "localhost" {
			continue // a literal address has one owner
		}
		l, err := net.Listen("tcp", net.JoinHostPort("::1", u.Port()))
		if err != nil {
			continue // taken by the product, or there is no IPv6
		}
		l.Close() //nolint:errcheck // it was opened to see whether it can be
		t.Errorf("another user's program can answer for %s", address)
	}
}
