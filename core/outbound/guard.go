// Package outbound decides which addresses this server may connect to when an outsider
// named the place: the public Internet, and the networks that the operator allows. It
// knows addresses and no protocol. Callers bring the ports, and their own rules for
// names.
package outbound

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"syscall"

	"code.dny.dev/ssrf"
)

// ErrPort refuses a public address on a port that is not for this purpose. With any
// port, the server could be made to knock at other people's services.
var ErrPort = errors.New("no port that is connected to on the public Internet")

// Guard judges addresses. Its zero value is not for use.
type Guard struct {
	allowed []netip.Prefix
	ports   []uint16
	public  *ssrf.Guardian
}

// New makes a guard that lets through the ports of public addresses, and every port
// of the networks that the operator allows. It adds to what the library denies
// (IANA's special-purpose registries, and everything outside global unicast for
// IPv6, which takes in IPv4-mapped, NAT64 and unique-local addresses) what it does
// not know.
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
// connection itself, so a name that resolves differently after an earlier lookup passes
// no check.
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
