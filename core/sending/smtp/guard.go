package smtp

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"

	"code.dny.dev/ssrf"
)

// mailPorts are where public servers take mail from their users. With any port, a
// customer could make this machine knock at other people's services.
var mailPorts = []uint16{25, 465, 587, 2465, 2525, 2587}

var errPort = errors.New("no port that mail is handed over at")

// guard decides where servers may be that a customer named: on the public Internet,
// and in the networks that the operator allows.
type guard struct {
	allowed []netip.Prefix
	public  *ssrf.Guardian
}

// newGuard adds to what the library denies (IANA's special-purpose registries, and
// everything outside global unicast for IPv6) the host agent of Azure, which looks
// public, and the 6bone (RFC 3701), which is nobody's.
func newGuard(allowed []netip.Prefix) guard {
	return guard{allowed: slices.Clone(allowed), public: ssrf.New(
		ssrf.WithAnyPort(), // control has a rule of its own, after that for addresses
		ssrf.WithDeniedV4Prefixes(netip.MustParsePrefix("168.63.129.16/32")),
		ssrf.WithDeniedV6Prefixes(netip.MustParsePrefix("3ffe::/16")),
	)}
}

func (g guard) dialer() *net.Dialer { return &net.Dialer{Control: g.control} }

// control sees the address that is about to be connected to, whatever a lookup
// before has answered, so a name that points elsewhere a moment later gains nothing.
func (g guard) control(network, address string, conn syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("read the address to connect to: %w", err)
	}
	if g.allows(to.Addr()) && (network == "tcp4" || network == "tcp6") {
		return nil
	}
	if err := g.public.Safe(network, address, conn); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	if !slices.Contains(mailPorts, to.Port()) {
		return errPort
	}
	return nil
}

func (g guard) allows(addr netip.Addr) bool {
	return slices.ContainsFunc(g.allowed, func(p netip.Prefix) bool { return p.Contains(addr) })
}
