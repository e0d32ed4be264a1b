// Package proxies determines the client address of a request that came through trusted
// proxies. It does not count or limit requests; callers do.
package proxies

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
)

// Trusted has the networks of proxies whose header X-Forwarded-For is trusted. The zero
// value trusts no proxy.
type Trusted struct{ networks []netip.Prefix }

// Parse returns the trusted proxies from networks in CIDR form or single IP addresses. It
// fails for other text and for IPv4 networks written as IPv6.
func Parse(networks []string) (Trusted, error) {
	var t Trusted
	for _, text := range networks {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			address, addressErr := netip.ParseAddr(text)
			if addressErr != nil || address.Zone() != "" {
				return Trusted{}, fmt.Errorf("%q must be a network such as 10.0.0.0/8", text)
			}
			network = netip.PrefixFrom(address, address.BitLen())
		}
		if network.Addr().Is4In6() {
			return Trusted{}, fmt.Errorf("%q must be written as an IPv4 network", text)
		}
		t.networks = append(t.networks, network.Masked())
	}
	return t, nil
}

// Remote returns the client address as host:port, like Request.RemoteAddr. If RemoteAddr is
// a trusted proxy, it returns the last entry of X-Forwarded-For that is not a trusted
// proxy, because clients can forge the entries before it. If all entries are trusted
// proxies, it returns the first. If an entry that it examines is not an address, it returns
// the trusted proxy after that entry.
func (t Trusted) Remote(r *http.Request) string {
	direct, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !t.trusts(direct.Addr()) {
		return r.RemoteAddr
	}
	from := direct
	entries := strings.Split(strings.Join(r.Header["X-Forwarded-For"], ","), ",")
	for i := len(entries) - 1; i >= 0; i-- {
		entry, ok := parseEntry(strings.TrimSpace(entries[i]))
		if !ok {
			break
		}
		from = entry
		if !t.trusts(from.Addr()) {
			break
		}
	}
	return from.String()
}

// trusts reports whether the address is in a network of trusted proxies.
func (t Trusted) trusts(address netip.Addr) bool {
	address = address.Unmap().WithZone("")
	for _, network := range t.networks {
		if network.Contains(address) {
			return true
		}
	}
	return false
}

// parseEntry parses an entry of X-Forwarded-For: an IP address with or without a port. It
// returns false for other text.
func parseEntry(text string) (netip.AddrPort, bool) {
	if address, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		return netip.AddrPortFrom(address, 0), true
	}
	entry, err := netip.ParseAddrPort(text)
	return entry, err == nil
}
