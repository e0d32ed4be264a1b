package clientdocument

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core/outbound"
)

// publicPort is the only port from which documents may be fetched on the public Internet.
const publicPort = 443

// privateNames are top-level domains that no host on the public Internet has (RFC 6761,
// 6762, 7686, 8375, and names of internal networks). The check of the IP address would
// refuse such hosts too; this list saves the DNS lookup.
var privateNames = []string{"localhost", "local", "internal", "intranet", "lan", "home", "corp", "arpa", "onion"}

// guard decides from which addresses documents may be fetched: the public Internet, and the
// networks in Config.Allowed.
type guard struct {
	outbound.Guard
	networks bool // Config.Allowed is not empty
}

// newGuard returns a guard that allows public addresses on the port publicPort, and
// addresses in the given networks on any port.
func newGuard(allowed []netip.Prefix) guard {
	return guard{outbound.New(allowed, publicPort), len(allowed) > 0}
}

// checkURL refuses private names, ports other than 443 and IP addresses outside
// Config.Allowed, before the DNS lookup. If Config.Allowed is not empty, every name and
// port passes. The check of the IP address while connecting then decides alone.
func (g guard) checkURL(u clientURL) error {
	switch {
	case u.literal.IsValid() && g.Allows(u.literal):
		return nil
	case u.literal.IsValid():
		return refuse("The client id must have the name of a host, not an IP address.")
	case g.networks:
		return nil
	case u.port != "":
		return refuse("The client id must not have a port other than 443.")
	}
	if dot := strings.LastIndexByte(u.host, '.'); dot < 0 || slices.Contains(privateNames, u.host[dot+1:]) {
		return refuse("The client id must have a host on the public Internet.")
	}
	return nil
}
