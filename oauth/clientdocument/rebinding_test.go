package clientdocument

import (
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"code.dny.dev/ssrf"
	"github.com/mailhelm/mailhelm/core/outbound/outboundtest"
)

// TestRebinding checks a host name that first resolves to a public address and then to the
// loopback (DNS rebinding). The server must not connect, because it checks the very address
// that it connects to.
func TestRebinding(t *testing.T) {
	t.Parallel()
	names := outboundtest.NewNames(t, "1.1.1.1", "127.0.0.1")
	reader, dials := reading(Config{Resolver: names.Resolver()})

	first, err := names.Resolver().LookupNetIP(t.Context(), "ip4", "app.example")
	if err != nil || len(first) != 1 || newGuard(nil).Control("tcp4", netip.AddrPortFrom(first[0], 443).String(), nil) != nil {
		t.Fatalf("the first lookup is not public: %v, %v", first, err)
	}
	_, err = reader.ReadDocument(t.Context(), appID)
	wantRefusal(t, err, "cannot be reached")
	if cause := errors.Unwrap(err); !errors.Is(cause, ssrf.ErrProhibitedIP) || !strings.Contains(cause.Error(), "127.0.0.1") {
		t.Error(cause)
	}
	if len(dials.approved) != 0 {
		t.Errorf("%v was approved", dials.approved)
	}
}

// TestRebindingBetweenReads checks that the IP address of a host is checked again for every
// fetch.
func TestRebindingBetweenReads(t *testing.T) {
	t.Parallel()
	var hands hands
	names := outboundtest.NewNames(t, "1.1.1.1", "10.0.0.1", "169.254.169.254")
	reader, dials := reading(Config{Resolver: names.Resolver(), Clock: hands.now})
	for _, want := range []error{errNotDialled, ssrf.ErrProhibitedIP, ssrf.ErrProhibitedIP} {
		_, err := reader.ReadDocument(t.Context(), appID)
		wantRefusal(t, err, "cannot be reached")
		if !errors.Is(err, want) {
			t.Errorf("%v, want %v", errors.Unwrap(err), want)
		}
		hands.advance(refusalLife)
	}
	if !slices.Equal(dials.approved, []string{"1.1.1.1:443"}) {
		t.Errorf("approved %v", dials.approved)
	}
}

// TestHostNamesWithPrivateAddresses checks that no connection is made if a host name
// resolves to private addresses, IPv4 or IPv6.
func TestHostNamesWithPrivateAddresses(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{
		"127.0.0.1", "10.0.0.1,192.168.0.1", "169.254.169.254", "0.0.0.0", "::1", "fd00:ec2::254", "127.0.0.1,::1", "64:ff9b::7f00:1", "2002:7f00:1::",
	} {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			reader, dials := reading(Config{Resolver: outboundtest.NewNames(t, answer).Resolver()})
			_, err := reader.ReadDocument(t.Context(), appID)
			wantRefusal(t, err, "cannot be reached")
			// A machine without IPv6 has another error for IPv6 addresses, because the
			// dialer skips them before the check of the address.
			if len(dials.approved) != 0 || !errors.Is(err, ssrf.ErrProhibitedIP) && !strings.Contains(answer, ":") {
				t.Errorf("approved %v, %v", dials.approved, errors.Unwrap(err))
			}
		})
	}
}

// TestNewGuards checks that a reader from New refuses to connect to private addresses.
func TestNewGuards(t *testing.T) {
	t.Parallel()
	reader := New(Config{Resolver: outboundtest.NewNames(t, "127.0.0.1").Resolver()})
	_, err := reader.ReadDocument(t.Context(), appID)
	wantRefusal(t, err, "cannot be reached")
	if !errors.Is(err, ssrf.ErrProhibitedIP) {
		t.Errorf("%v", errors.Unwrap(err))
	}
}

// TestNamesOfAllowedNetworks checks that a document can be fetched by a host name in an
// allowed network, if the certificate is valid for that name.
func TestNamesOfAllowedNetworks(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(s *site, w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(documentFor("https://"+r.Host+r.URL.Path, nil))
	})
	config := s.config()
	config.Resolver = outboundtest.NewNames(t, "127.0.0.1").Resolver()
	reader, _ := reading(config)
	id := strings.Replace(s.clientID, "127.0.0.1", "example.com", 1)
	if d := mustRead(t, reader, id); d.ClientID != id {
		t.Errorf("%+v", d)
	}
	_, err := reader.ReadDocument(t.Context(), strings.Replace(s.clientID, "127.0.0.1", "other.example", 1))
	wantRefusal(t, err, "no trusted certificate")
}
