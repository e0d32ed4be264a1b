package clientdocument

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core/outbound"
)

// publicPort is the only port of public addresses that may be fetched from.
const publicPort = 443

// privateNames are domains that no public client has (RFC 6761, 6762, 7686, 8375, and
// names of internal networks). Their addresses would be refused too; this list saves
// the lookup.
var privateNames = []string{"localhost", "local", "internal", "intranet", "lan", "home", "corp", "arpa", "onion"}

// guard decides which addresses may be fetched from: the public Internet, and the
// networks in Config.Allowed.
type guard struct {
	outbound.Guard
	networks bool // Config.Allowed is not empty
}

// newGuard returns a guard that also allows these networks, on any port.
func newGuard(allowed []netip.Prefix) guard {
	return guard{outbound.New(allowed, publicPort), len(allowed) > 0}
}

// checkURL refuses private names, other ports, and IP addresses outside Config.Allowed
// before the lookup. When the operator allows networks, names and ports are
// unrestricted, and only Control decides.
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
