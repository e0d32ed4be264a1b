package sources

import (
	"net/netip"
	"strconv"
	"strings"
)

// term is a mechanism or modifier of an SPF record (RFC 7208 section 4.6.1).
type term struct {
	qualifier Qualifier
	name      string // lower case
	modifier  bool
	value     string // the domain, empty if the term has none
	// prefix is the network of ip4 and ip6. bits4 and bits6 are the lengths of the networks
	// around the addresses of a and mx.
	prefix       netip.Prefix
	bits4, bits6 int
}

// parseTerm reads a term. The result is false if it is not valid.
func parseTerm(text string) (term, bool) {
	t := term{qualifier: Pass, bits4: 32, bits6: 128}
	if at := strings.IndexAny(text, "=:/"); at > 0 && text[at] == '=' {
		t.modifier, t.name, t.value = true, strings.ToLower(text[:at]), text[at+1:]
		return t, t.name != "redirect" || t.value != ""
	}
	if text != "" {
		if q, found := qualifiers[text[0]]; found {
			t.qualifier, text = q, text[1:]
		}
	}
	end := strings.IndexAny(text, ":/")
	if end < 0 {
		end = len(text)
	}
	t.name = strings.ToLower(text[:end])
	rest := text[end:]
	switch t.name {
	case "all":
		return t, rest == ""
	case "ip4", "ip6":
		return t, t.parseNetwork(rest)
	case "include", "exists":
		t.value = strings.TrimPrefix(rest, ":")
		return t, len(rest) > 1 && rest[0] == ':'
	case "a", "mx", "ptr":
		return t, t.parseTarget(rest)
	}
	return t, false
}

var qualifiers = map[byte]Qualifier{'+': Pass, '-': Fail, '~': SoftFail, '?': Neutral}

func (t *term) parseNetwork(rest string) bool {
	if !strings.HasPrefix(rest, ":") {
		return false
	}
	prefix, err := netip.ParsePrefix(rest[1:])
	if err != nil {
		ip, err := netip.ParseAddr(rest[1:])
		if err != nil || ip.Zone() != "" {
			return false
		}
		prefix = netip.PrefixFrom(ip, ip.BitLen())
	}
	t.prefix = prefix.Masked()
	return prefix.Addr().Is4() == (t.name == "ip4")
}

// parseTarget reads an optional domain, an optional length for IPv4 and one for IPv6:
// ":example.com/24//64".
func (t *term) parseTarget(rest string) bool {
	rest, six, found6 := strings.Cut(rest, "//")
	rest, four, found4 := strings.Cut(rest, "/")
	ok := true
	if found6 {
		t.bits6, ok = parseBits(six, 128)
	}
	if found4 && ok {
		t.bits4, ok = parseBits(four, 32)
	}
	if rest == "" {
		return ok
	}
	t.value = strings.TrimPrefix(rest, ":")
	return ok && rest[0] == ':' && t.value != ""
}

func parseBits(text string, most int) (int, bool) {
	n, err := strconv.ParseUint(text, 10, 8)
	return int(n), err == nil && int(n) <= most
}

// around returns the network of the term around an address of its domain.
func (t *term) around(ip netip.Addr) (netip.Prefix, bool) {
	bits := t.bits6
	if ip.Is4() {
		bits = t.bits4
	}
	prefix, err := ip.Prefix(bits)
	return prefix, err == nil
}
