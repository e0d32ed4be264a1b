// Package outbound decides to which addresses this server may connect when an outsider
// chose the address: the public Internet, and the networks that the operator allows. It
// checks addresses and ports, for any protocol. Callers choose the ports and have their own
// rules for host names.
package outbound

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"syscall"

	"code.dny.dev/ssrf"
)

// ErrPort is the error for a public address with a port that the guard does not allow. With
// any port, outsiders could make this server connect to services of other people.
var ErrPort = errors.New("no port that is connected to on the public Internet")

// Guard allows or refuses addresses. Use New; the zero value does not work.
type Guard struct {
	allowed []netip.Prefix
	ports   []uint16
	public  *ssrf.Guardian
}

// New returns a guard that allows these ports of public addresses, and every port of the
// allowed networks. The library refuses IANA's special-purpose registries. For IPv6, it
// refuses everything outside global unicast, so also IPv4-mapped, NAT64 and unique-local
// addresses. New adds two networks that the library allows.
func New(allowed []netip.Prefix, ports ...uint16) Guard {
	return Guard{allowed: slices.Clone(allowed), ports: slices.Clone(ports), public: ssrf.New(
		ssrf.WithAnyPort(), // Control has a rule of its own, after that for addresses
		// The host agent and metadata of Azure, on an address that looks public.
		ssrf.WithDeniedV4Prefixes(netip.MustParsePrefix("168.63.129.16/32")),
		// The 6bone, returned to IANA (RFC 3701), is assigned to no one.
		ssrf.WithDeniedV6Prefixes(netip.MustParsePrefix("3ffe::/16")),
	)}
}

// Control is the Control function of a net.Dialer. It checks the address of the
// connection itself. So a host name that resolves to another address after an earlier check
// is refused too.
func (g Guard) Control(network, address string, conn syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("read the address to connect to: %w", err)
	}
	if g.Allows(to.Addr()) && (network == "tcp4" || network == "tcp6") {
		return nil
	}
	if err := g.public.Safe(network, address, conn); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	if !slices.Contains(g.ports, to.Port()) {
		return ErrPort
	}
	return nil
}

// Allows reports whether an address is in a network that the operator allows.
func (g Guard) Allows(addr netip.Addr) bool {
	return slices.ContainsFunc(g.allowed, func(p netip.Prefix) bool { return p.Contains(addr) })
}
