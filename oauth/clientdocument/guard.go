package clientdocument

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core/outbound"
)

// publicPort is the one port of public addresses that is fetched from.
const publicPort = 443

// privateNames are domains that no public client has (RFC 6761, 6762, 7686, 8375
// and names that networks use among themselves). Their addresses would be refused
// as well; this spares the lookup.
var privateNames = []string{"localhost", "local", "internal", "intranet", "lan", "home", "corp", "arpa", "onion"}

// guard decides where documents may be fetched from: the public Internet, and
// the networks that the operator names.
type guard struct {
	outbound.Guard
	networks bool // the operator names some
}

func newGuard(allowed []netip.Prefix) guard {
	return guard{outbound.New(allowed, publicPort), len(allowed) > 0}
}

// checkURL refuses before any lookup what cannot be a public client. Where the
// operator names networks of their own, private names and other ports are theirs
// to use, and Control alone decides.
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
