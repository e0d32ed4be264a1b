package smtp

import (
	"errors"
	"net/netip"
	"testing"

	"code.dny.dev/ssrf"
	"github.com/mailhelm/mailhelm/core/outbound"
	"github.com/mailhelm/mailhelm/core/sending"
)

func TestOnlyPublicServersAreReached(t *testing.T) {
	t.Parallel()
	reach := guardedDialer([]netip.Prefix{netip.MustParsePrefix("10.20.0.0/16")}).Control
	for _, address := range []string{"1.1.1.1:587", "8.8.8.8:25", "9.9.9.9:465", "10.20.3.4:1025"} {
		if err := reach("tcp4", address, nil); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, address := range []string{"127.0.0.1:587", "10.21.3.4:25", "169.254.169.254:25"} {
		if err := reach("tcp4", address, nil); !errors.Is(err, ssrf.ErrProhibitedIP) {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, address := range []string{"1.1.1.1:22", "1.1.1.1:443", "1.1.1.1:6379"} {
		if err := reach("tcp4", address, nil); !errors.Is(err, outbound.ErrPort) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestTheGuardIsForCustomersConnections checks that a customer's connection cannot reach
// loopback and that the operator's connection can. The two must not share open SMTP
// sessions.
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
	if loginOf(Server{Connection: theirs}) == loginOf(Server{Connection: operators}) {
		t.Error("both use the same sessions")
	}
}
