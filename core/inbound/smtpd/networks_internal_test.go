package smtpd

import (
	"net"
	"testing"
)

// from is a connection of which only the client's address is known.
type from struct{ address net.Addr }

func (f from) RemoteAddr() net.Addr { return f.address }

func TestNetworks(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"192.0.2.7":           "192.0.2.0/24",
		"192.0.2.255":         "192.0.2.0/24",
		"192.0.3.1":           "192.0.3.0/24",
		"::ffff:192.0.2.9":    "192.0.2.0/24",
		"2001:db8:1:2::1":     "2001:db8:1:2::/64",
		"2001:db8:1:2:3:4::5": "2001:db8:1:2::/64",
		"2001:db8:1:3::1":     "2001:db8:1:3::/64",
	} {
		if got := networkOf(addressOf(from{&net.TCPAddr{IP: net.ParseIP(address), Port: 25}})); got.String() != want {
			t.Errorf("%s is of %s, want %s", address, got, want)
		}
	}
	if got := networkOf(addressOf(from{&net.TCPAddr{IP: net.ParseIP("fe80::1"), Zone: "eth0"}})); got.String() != "fe80::/64" {
		t.Errorf("with a zone: %s", got)
	}
}
