package outbound_test

import (
	"errors"
	"net"
	"net/netip"
	"testing"

	"code.dny.dev/ssrf"
	"github.com/mailhelm/mailhelm/core/outbound"
)

// notPublic are addresses that the Guard must refuse. The test does not connect to them.
var notPublic = []string{
	// IPv4 "this network" (0.0.0.0/8), loopback, broadcast, multicast and reserved
	// addresses.
	"0.0.0.0", "0.0.0.1", "0.255.255.255", "127.0.0.1", "127.0.0.2", "127.1.2.3", "127.255.255.255",
	"255.255.255.255", "224.0.0.1", "224.0.0.251", "239.255.255.250", "240.0.0.1", "254.1.2.3",
	// Private networks, and the shared address space of Internet providers (100.64.0.0/10).
	"10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.254", "192.168.0.1", "192.168.255.255",
	"100.64.0.1", "100.100.100.200", "100.127.255.255",
	// Link-local addresses, and the metadata services of cloud providers.
	"169.254.0.1", "169.254.169.254", "169.254.170.2", "169.254.255.255", "192.0.0.192", "168.63.129.16",
	// Networks for documentation, benchmarks, protocol assignments and anycast services.
	"192.0.2.1", "198.51.100.7", "203.0.113.9", "198.18.0.1", "198.19.255.255", "192.0.0.1", "192.0.0.170",
	"192.88.99.1", "192.31.196.1", "192.52.193.1", "192.175.48.1",
	// The same for IPv6.
	"::", "::1", "::2", "fe80::1", "fe80::1%eth0", "febf::1", "fec0::1", "fc00::1", "fd00::1", "fd00:ec2::254", "fd20:ce::254",
	"ff02::1", "ff05::2", "ff0e::1", "2001:db8::1", "3fff::1", "100::1", "5f00::1", "3ffe::1", "4000::1", "e000::1",
	// IPv6 addresses with an IPv4 address inside: mapped, compatible, translated, NAT64,
	// 6to4 and Teredo.
	"::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:8.8.8.8", "::127.0.0.1", "::8.8.8.8", "::ffff:0:127.0.0.1",
	"64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::a00:1", "2002:7f00:1::", "2002:a9fe:a9fe::1", "2002:808:808::1",
	"2001::1", "2001:0:7f00:1::1", "2001:10::1", "2001:20::1", "2001:1::1", "2001:1ff::1", "2620:4f:8000::1",
}

var public = []string{
	"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.1",
	"168.63.129.15", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0", "223.255.255.255",
	"2001:200::1", "2606:4700:4700::1111", "2a00:1450:4001::1", "2003::1", "3ffd::1", "2620:4f:8001::1",
}

// connect calls Guard.Control with the arguments that a net.Dialer would pass, and returns
// its error.
func connect(g outbound.Guard, address, port string) error {
	network := "tcp6"
	if addr, err := netip.ParseAddr(address); err == nil && addr.Is4() {
		network = "tcp4"
	}
	return g.Control(network, net.JoinHostPort(address, port), nil)
}

func TestGuard(t *testing.T) {
	t.Parallel()
	g := outbound.New(nil, 443, 587)
	for _, address := range notPublic {
		if err := connect(g, address, "443"); !errors.Is(err, ssrf.ErrProhibitedIP) {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, address := range public {
		for _, port := range []string{"443", "587"} {
			if err := connect(g, address, port); err != nil {
				t.Errorf("%s port %s: %v", address, port, err)
			}
		}
		for _, port := range []string{"0", "22", "25", "80", "444", "8443", "65535"} {
			if err := connect(g, address, port); !errors.Is(err, outbound.ErrPort) {
				t.Errorf("%s port %s: %v", address, port, err)
			}
		}
	}
	for _, network := range []string{"tcp", "udp", "udp4", "ip4", "unix", ""} {
		if err := g.Control(network, "1.1.1.1:443", nil); !errors.Is(err, ssrf.ErrProhibitedNetwork) {
			t.Errorf("%q: %v", network, err)
		}
	}
	for _, address := range []string{"", "1.1.1.1", "app.example:443", "1.1.1.1:https", "/run/docker.sock", "0x7f.1:443", "2130706433:443"} {
		if err := g.Control("tcp4", address, nil); err == nil {
			t.Errorf("%q passes", address)
		}
	}
}

// TestGuardAllows checks that the Guard allows any TCP port in the networks of the
// operator, and still refuses other networks that are not public.
func TestGuardAllows(t *testing.T) {
	t.Parallel()
	g := outbound.New([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("fd00:1::/32")}, 443, 587)
	for _, address := range []string{"127.0.0.1", "127.9.9.9", "fd00:1::5"} {
		for _, port := range []string{"443", "80", "8443"} {
			if err := connect(g, address, port); err != nil {
				t.Errorf("%s port %s: %v", address, port, err)
			}
		}
	}
	for _, address := range notPublic {
		if addr := netip.MustParseAddr(address); addr.Is4() && addr.IsLoopback() {
			continue
		}
		if err := connect(g, address, "443"); !errors.Is(err, ssrf.ErrProhibitedIP) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if err := connect(g, "1.1.1.1", "8443"); !errors.Is(err, outbound.ErrPort) {
		t.Errorf("a public address on port 8443: %v", err)
	}
	if err := g.Control("udp4", "127.0.0.1:443", nil); !errors.Is(err, ssrf.ErrProhibitedNetwork) {
		t.Errorf("udp: %v", err)
	}
}
