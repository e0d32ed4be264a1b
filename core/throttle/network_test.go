package throttle_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core/throttle"
)

func TestNetworkOf(t *testing.T) {
	t.Parallel()
	for remote, want := range map[string]string{
		"192.0.2.1:80": "192.0.2.1", "[::ffff:192.0.2.1]:80": "192.0.2.1", "[2001:db8:1:2:3::4]:80": "2001:db8:1:2::/64",
		"[fe80::1%eth0]:80": "fe80::/64", "": "", "nowhere": "", "host:80": "",
	} {
		if got := throttle.NetworkOf(remote); got != want {
			t.Errorf("%s: %q, want %q", remote, got, want)
		}
	}
}
