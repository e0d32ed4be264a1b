package oauth_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/oauth/clients"
	"github.com/mailhelm/mailhelm/conformance/product"
)

// TestOfficialSuite checks that the official MCP conformance suite reports success for
// every check of the authorization server.
func TestOfficialSuite(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{ClientDocumentCAs: metadataDocument(t).authorities})
	v := newVisit(t, p)
	port := freePort(t)
	client := insertClient(t, p, nil, fmt.Sprintf("http://127.0.0.1:%d/callback", port))
	checks := clients.Suite(t, clients.SuiteTask{
		Issuer: p.AuthURL, ClientID: client, Resource: p.MCPURL, Port: port,
	}, func(question string) { follow(t, p, v.allow(question)) })
	expected := map[string]bool{"authorization-server-metadata": false, "authorization-server-metadata-cimd": false, "authorization-code-grant": false}
	for _, c := range checks {
		if c.Status != "SUCCESS" {
			t.Errorf("%s: %s: %s", c.ID, c.Status, c.Message)
		}
		expected[c.ID] = true
	}
	for id, seen := range expected {
		if !seen {
			t.Errorf("the suite did not check %s", id)
		}
	}
}

// follow opens the address that the authorization server redirects to, where a client
// listens on the loopback. It expects status 200.
func follow(t *testing.T, p *product.Product, address string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := p.HTTP.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusOK {
		t.Errorf("the client answered %d, %v", answer.StatusCode, err)
	}
}

// freePort returns a loopback port that was free at the time of the call. Callers need the
// number before the suite's server listens on the port.
func freePort(t *testing.T) int {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return port
}
