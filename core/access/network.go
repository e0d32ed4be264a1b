package access

import "net/netip"

// NetworkOf names where a connection comes from, for counting attempts: an IPv4
// address, or of an IPv6 address the first 64 bits, because one household has all
// the rest. remote is host:port; anything else has no name and shares one count.
func NetworkOf(remote string) string {
	from, err := netip.ParseAddrPort(remote)
	if err != nil {
		return ""
	}
	address := from.Addr().Unmap().WithZone("")
	if address.Is4() {
		return address.String()
	}
	const network = 64
	prefix, err := address.Prefix(network)
	if err != nil {
		return ""
	}
	return prefix.String()
}
