// Package outbound decides to which IP addresses this server may connect if an outsider
// chose the address: the public Internet, and the networks that the operator allows. It
// checks addresses and ports, for any protocol over TCP. Callers choose the ports and have
// their own rules for host names.
package outbound

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"syscall"

	"code.dny.dev/ssrf"
)

// ErrPort is the error for a public address with a port that the Guard does not allow. If
// every port were allowed, outsiders could use this server to connect to services of third
// parties.
var ErrPort = errors.New("no port that is connected to on the public Internet")

// ErrAddress is the error for an address that is neither public nor in a network that the
// operator allows.
var ErrAddress = errors.New("no address on the public Internet")

// Guard decides whether the server may connect to an IP address and port. Create it with
// New; the zero value does not work.
type Guard struct {
	allowed []netip.Prefix
	ports   []uint16
	public  *ssrf.Guardian
}

// New returns a Guard that allows the given ports at public addresses, and every port in
// the networks in allowed. The ssrf library refuses IANA's special-purpose networks. It
// also refuses every IPv6 address that is not global unicast, such as IPv4-mapped, NAT64
// and unique-local addresses. In addition, the Guard refuses one IPv4 address and one IPv6
// network that the library allows.
func New(allowed []netip.Prefix, ports ...uint16) Guard {
	return Guard{allowed: slices.Clone(allowed), ports: slices.Clone(ports), public: ssrf.New(
		ssrf.WithAnyPort(), // allows every port, because the method Guard.Control checks the port
		// Azure's host agent and metadata service use this address, which looks public.
		ssrf.WithDeniedV4Prefixes(netip.MustParsePrefix("168.63.129.16/32")),
		// The network of the 6bone was returned to IANA (RFC 3701) and is not assigned.
		ssrf.WithDeniedV6Prefixes(netip.MustParsePrefix("3ffe::/16")),
	)}
}

// Control has the signature of net.Dialer.Control. It fails if the Guard does not allow the
// address to which the connection is made. So a host name that resolves to another address
// after an earlier check is refused too.
func (g Guard) Control(network, address string, conn syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("read the address to connect to: %w", err)
	}
	if g.Allows(to.Addr()) && (network == "tcp4" || network == "tcp6") {
		return nil
	}
	if err := g.public.Safe(network, address, conn); err != nil {
		return fmt.Errorf("connect: %w: %w", ErrAddress, err)
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
