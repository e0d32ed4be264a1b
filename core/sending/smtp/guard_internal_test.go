package smtp

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"code.dny.dev/ssrf"
	"github.com/mailhelm/mailhelm/core/sending"
)

func TestOnlyPublicServersAreReached(t *testing.T) {
	t.Parallel()
	g := newGuard(nil)
	for _, address := range []string{
		"127.0.0.1:587", "10.1.2.3:25", "172.16.0.1:587", "192.168.1.1:465", "169.254.169.254:25", "100.64.0.1:25", "0.0.0.0:25",
		"168.63.129.16:25", "224.0.0.1:25", "255.255.255.255:25",
		"[::1]:587", "[fd00::1]:587", "[fe80::1]:25", "[::ffff:127.0.0.1]:25", "[64:ff9b::7f00:1]:25", "[3ffe::1]:25", "[::]:25",
	} {
		network := "tcp4"
		if strings.HasPrefix(address, "[") {
			network = "tcp6"
		}
		if err := g.control(network, address, nil); !errors.Is(err, ssrf.ErrProhibitedIP) {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, address := range []string{"1.1.1.1:587", "8.8.8.8:25", "9.9.9.9:465"} {
		if err := g.control("tcp4", address, nil); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
	if err := g.control("tcp6", "[2606:4700::1111]:587", nil); err != nil {
		t.Error(err)
	}
	for _, address := range []string{"1.1.1.1:22", "1.1.1.1:443", "1.1.1.1:6379"} {
		if err := g.control("tcp4", address, nil); !errors.Is(err, errPort) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if err := g.control("udp4", "1.1.1.1:587", nil); !errors.Is(err, ssrf.ErrProhibitedNetwork) {
		t.Errorf("another protocol: %v", err)
	}
	if g.control("tcp4", "mail.example.com:587", nil) == nil {
		t.Error("a name is no address")
	}
}

func TestNetworksOfTheOperator(t *testing.T) {
	t.Parallel()
	g := newGuard([]netip.Prefix{netip.MustParsePrefix("10.20.0.0/16")})
	if err := g.control("tcp4", "10.20.3.4:1025", nil); err != nil {
		t.Error(err)
	}
	if err := g.control("tcp4", "10.21.3.4:25", nil); !errors.Is(err, ssrf.ErrProhibitedIP) {
		t.Error(err)
	}
	if g.control("udp4", "10.20.3.4:25", nil) == nil {
		t.Error("another protocol is let through")
	}
}

// Who made the connection decides, and a pooled session does not pass from one to
// the other.
func TestTheGuardIsForCustomersConnections(t *testing.T) {
	t.Parallel()
	all := New(Config{})
	t.Cleanup(func() { _ = all.Close() })
	theirs := sending.Connection{OrgID: "org", Provider: sending.SMTP, Endpoint: "127.0.0.1:1"}
	account, err := all.Open(theirs)
	if err != nil {
		t.Fatal(err)
	}
	_, err = account.(*SMTP).cfg.Dial(t.Context(), "tcp", "127.0.0.1:1")
	if !errors.Is(err, ssrf.ErrProhibitedIP) {
		t.Errorf("a customer's connection: %v", err)
	}
	operators := theirs
	operators.MayReachPrivate = true
	if account, err = all.Open(operators); err != nil {
		t.Fatal(err)
	}
	if _, err = account.(*SMTP).cfg.Dial(t.Context(), "tcp", "127.0.0.1:1"); err == nil || errors.Is(err, ssrf.ErrProhibitedIP) {
		t.Errorf("the operator's connection: %v", err)
	}
	if loginOf(theirs) == loginOf(operators) {
		t.Error("both use the same sessions")
	}
}
