package sources

import (
	"net/netip"
	"strings"

	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
	"golang.org/x/net/publicsuffix"
)

// The networks by which addresses without a name are grouped.
const (
	groupBits4 = 24
	groupBits6 = 48
)

// normal returns a reported name in the form in which names are compared, or "" if it is not
// a domain name.
func normal(name string) string {
	if name == "" || isNormal(name) {
		return name
	}
	name, _ = dmarc.Name(strings.TrimSpace(name))
	return name
}

// isNormal reports whether dmarc.Name returns a name as it is. Most reported names have that
// form already, and this takes a fifth of the time.
func isNormal(name string) bool {
	if len(name) > 253 || name[len(name)-1] == '-' {
		return false
	}
	label := 0 // length of the present label
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_':
		case c == '-' && label > 0:
		case c == '.' && label > 0 && name[i-1] != '-':
			label = -1
		default:
			return false
		}
		if label++; label > 63 {
			return false
		}
	}
	return label > 0
}

// within reports whether a name is a domain or below it.
func within(name, domain string) bool {
	return domain != "" && strings.HasSuffix(name, domain) &&
		(len(name) == len(domain) || name[len(name)-len(domain)-1] == '.')
}

// base returns the domain under which the owner of a name registered it, by the public suffix
// list. It is the name itself if that is a public suffix.
func base(name string) string {
	registered, err := publicsuffix.EffectiveTLDPlusOne(name)
	if err != nil {
		return name
	}
	return registered
}

// network returns the network by which an address is grouped, as text.
func network(ip netip.Addr) string {
	if !ip.IsValid() {
		return "unknown"
	}
	bits := groupBits6
	if ip.Is4() {
		bits = groupBits4
	}
	prefix, err := ip.Prefix(bits)
	if err != nil {
		return "unknown"
	}
	return prefix.String()
}

// canonical returns an address without a zone, and an IPv4 address in its own form.
func canonical(ip netip.Addr) netip.Addr { return ip.Unmap().WithZone("") }

// containsAddress reports whether a name was generated from an address: it contains three
// octets of an IPv4 address in a row, or the digits of the whole address, in either order.
func containsAddress(name string, ip netip.Addr) bool {
	if ip.Is4() {
		return containsOctets(name, ip.As4()) || containsDigits(name, ip)
	}
	return ip.Is6() && containsDigits(name, ip)
}

func containsOctets(name string, octets [4]byte) bool {
	var last [3]int // the last three numbers of the name
	seen := 0
	for i := 0; i < len(name); {
		if name[i] < '0' || name[i] > '9' {
			i++
			continue
		}
		n := 0
		for ; i < len(name) && name[i] >= '0' && name[i] <= '9'; i++ {
			n = min(n*10+int(name[i]-'0'), 1000)
		}
		last = [3]int{last[1], last[2], n}
		if seen++; seen < 3 {
			continue
		}
		for at := range 2 {
			a, b, c := int(octets[at]), int(octets[at+1]), int(octets[at+2])
			if last == [3]int{a, b, c} || last == [3]int{c, b, a} {
				return true
			}
		}
	}
	return false
}

// containsDigits reports whether a name, read without dots and hyphens, contains all
// hexadecimal digits of an address, forwards or (IPv6) backwards.
func containsDigits(name string, ip netip.Addr) bool {
	const hexadecimal = "0123456789abcdef"
	bytes := ip.AsSlice()
	forwards, backwards := make([]byte, 0, 32), make([]byte, 0, 32)
	for i := range bytes {
		b, e := bytes[i], bytes[len(bytes)-1-i]
		forwards = append(forwards, hexadecimal[b>>4], hexadecimal[b&15])
		backwards = append(backwards, hexadecimal[e&15], hexadecimal[e>>4])
	}
	if ip.Is4() {
		return strings.Contains(name, string(forwards))
	}
	digits := strings.Map(func(r rune) rune {
		if r == '.' || r == '-' {
			return -1
		}
		return r
	}, name)
	return strings.Contains(digits, string(forwards)) || strings.Contains(digits, string(backwards))
}
