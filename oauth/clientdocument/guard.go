package clientdocument

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"syscall"

	"code.dny.dev/ssrf"
)

// publicPort is the one port of public addresses that is fetched from. With any
// port, the server could be made to knock at other people's services.
const publicPort = 443

var errPort = errors.New("only port 443 is fetched from")

// privateNames are domains that no public client has (RFC 6761, 6762, 7686, 8375
// and names that networks use among themselves). Their addresses would be refused
// as well; this spares the lookup.
var privateNames = []string{"localhost", "local", "internal", "intranet", "lan", "home", "corp", "arpa", "onion"}

// guard decides where documents may be fetched from: the public Internet, and
// the networks that the operator names.
type guard struct {
	allowed []netip.Prefix
	public  *ssrf.Guardian
}

// newGuard adds to what the library denies (IANA's special-purpose registries,
// and everything outside global unicast for IPv6, which takes in IPv4-mapped,
// NAT64 and unique-local addresses) what it does not know.
func newGuard(allowed []netip.Prefix) guard {
	return guard{allowed: slices.Clone(allowed), public: ssrf.New(
		ssrf.WithAnyPort(), // control has a rule of its own, after that for addresses
		// The host agent and metadata of Azure, on an address that looks public.
		ssrf.WithDeniedV4Prefixes(netip.MustParsePrefix("168.63.129.16/32")),
		// The 6bone, given back to IANA (RFC 3701): nobody's addresses.
		ssrf.WithDeniedV6Prefixes(netip.MustParsePrefix("3ffe::/16")),
	)}
}

// control is for net.Dialer.Control. It sees the address that is about to be
// connected to, whatever a lookup before has answered, so a name that points
// elsewhere a moment later gains nothing.
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
	if to.Port() != publicPort {
		return errPort
	}
	return nil
}

func (g guard) allows(addr netip.Addr) bool {
	return slices.ContainsFunc(g.allowed, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// checkURL refuses before any lookup what cannot be a public client. Where the
// operator names networks of their own, private names and other ports are theirs
// to use, and control alone decides.
func (g guard) checkURL(u clientURL) error {
	switch {
	case u.literal.IsValid() && g.allows(u.literal):
		return nil
	case u.literal.IsValid():
		return refuse("The client id must have the name of a host, not an IP address.")
	case len(g.allowed) > 0:
		return nil
	case u.port != "":
		return refuse("The client id must not have a port other than 443.")
	}
	if dot := strings.LastIndexByte(u.host, '.'); dot < 0 || slices.Contains(privateNames, u.host[dot+1:]) {
		return refuse("The client id must have a host on the public Internet.")
	}
	return nil
}
