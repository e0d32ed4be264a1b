package throttle

import "net/netip"

// NetworkOf returns the network of a connection, as a key for counting attempts. The key is
// an IPv4 address, or the first 64 bits of an IPv6 address, because one household usually
// has all addresses with these bits. remote is host:port. For any other text NetworkOf
// returns "", so all such connections share one count.
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
