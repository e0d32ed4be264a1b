// Package proxies finds out where a request comes from when it has passed through
// proxies that are known. It judges addresses alone; what is counted by them, and
// how coarsely, is the business of whoever asks.
package proxies

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
)

// Trusted are the networks of proxies whose X-Forwarded-For is believed. The zero
// value believes nobody.
type Trusted struct{ networks []netip.Prefix }

// Parse reads networks in CIDR form; an address stands for itself alone.
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

// Remote is where a request comes from, as host:port like Request.RemoteAddr. When
// that is a trusted proxy, it is the last entry of X-Forwarded-For that is not one
// itself: the entries further left are whatever the client chose to send. Where
// that entry is no address, the request counts as the proxy's own.
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

func (t Trusted) trusts(address netip.Addr) bool {
	address = address.Unmap().WithZone("")
	for _, network := range t.networks {
		if network.Contains(address) {
			return true
		}
	}
	return false
}

// parseEntry reads an address with or without a port: proxies write either.
func parseEntry(text string) (netip.AddrPort, bool) {
	if address, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		return netip.AddrPortFrom(address, 0), true
	}
	entry, err := netip.ParseAddrPort(text)
	return entry, err == nil
}
