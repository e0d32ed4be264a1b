package fetch_test

import (
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"code.dny.dev/ssrf"
	"github.com/mailhelm/mailhelm/core/outbound"
	"github.com/mailhelm/mailhelm/core/outbound/fetch"
	"github.com/mailhelm/mailhelm/core/outbound/outboundtest"
)

// TestSecondLookupIsPrivate checks that a fetch fails if the host name had a public address
// in an earlier lookup and has a private one now (DNS rebinding).
func TestSecondLookupIsPrivate(t *testing.T) {
	t.Parallel()
	names := outboundtest.NewNames(t, "1.1.1.1", "127.0.0.1", "10.0.0.1", "169.254.169.254")
	config, d := limits(nil)
	config.Resolver = names.Resolver()
	first, err := names.Resolver().LookupNetIP(t.Context(), "ip4", "app.example")
	if err != nil || len(first) != 1 || config.Guard.Control("tcp4", first[0].String()+":443", nil) != nil {
		t.Fatalf("the first lookup is not public: %v, %v", first, err)
	}
	for range 3 { // every fetch is checked
		if _, err := fetch.New(config).Get(t.Context(), "https://app.example/"); !errors.Is(err, ssrf.ErrProhibitedIP) {
			t.Error(err)
		}
	}
	if len(d.allowed) != 0 {
		t.Errorf("connected to %v", d.allowed)
	}
}

// TestConnectionIsToTheCheckedAddress checks that a fetch looks up the host name once and
// connects to the same address that the Guard checked.
func TestConnectionIsToTheCheckedAddress(t *testing.T) {
	t.Parallel()
	reached := make(chan string, 1)
	s, config, d := site(t, func(_ http.ResponseWriter, r *http.Request) {
		if to, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
			reached <- to.String()
		}
	})
	names := outboundtest.NewNames(t, "127.0.0.1", "10.0.0.1")
	config.Resolver = names.Resolver()
	url := strings.Replace(s.URL, "127.0.0.1", "example.com", 1) // a name of the certificate
	if _, err := fetch.New(config).Get(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	if to := <-reached; !slices.Equal(d.allowed, []string{to}) || names.Lookups() != 1 {
		t.Errorf("%v was checked and %s reached, after %d lookups", d.allowed, to, names.Lookups())
	}
}

// TestGuardAndRefuse checks that Config.Refuse is called only for addresses that the Guard
// allows. So it can refuse further addresses, but cannot allow any.
func TestGuardAndRefuse(t *testing.T) {
	t.Parallel()
	config, d := limits(nil)
	config.Resolver = outboundtest.NewNames(t, "1.1.1.1").Resolver()
	for url, want := range map[string]error{
		"https://app.example/":      errNotDialled,
		"https://app.example:8443/": outbound.ErrPort,
		"https://127.0.0.1/":        ssrf.ErrProhibitedIP,
	} {
		if _, err := fetch.New(config).Get(t.Context(), url); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", url, err, want)
		}
	}
	if !slices.Equal(d.allowed, []string{"1.1.1.1:443"}) {
		t.Errorf("allowed %v", d.allowed)
	}
}
