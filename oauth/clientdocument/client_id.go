package clientdocument

import (
	"net/netip"
	"strconv"
	"strings"
)

// maxClientID is the largest length of a client id that is a URL, in bytes. Such ids are
// shown to people and stored in an indexed column.
const maxClientID = 1000

// unreserved are the characters other than letters and digits that need no escape anywhere
// in a URL. inPath adds the characters that need no escape in a path (RFC 3986 sections 2.3
// and 3.3).
const (
	unreserved = "-._~"
	inPath     = unreserved + "!$&'()*+,;=:@/"
)

// clientURL is a parsed client id that is a URL, in canonical form.
type clientURL struct {
	text string // the whole URL
	host string // in lower case; an IPv6 address keeps its brackets
	port string // empty for 443
	path string
	// literal is the host as an IP address, or the zero value if the host is a name.
	literal netip.Addr
}

// authority returns the host, with the port unless it is 443, as written in a URL.
func (u clientURL) authority() string {
	if u.port == "" {
		return u.host
	}
	return u.host + ":" + u.port
}

// readClientID parses a client id that is a URL. It fails unless the id is in canonical
// form. Otherwise a client that is blocked under one spelling could be used under another.
func readClientID(text string) (clientURL, error) {
	u, err := canonical(text)
	if err != nil {
		return clientURL{}, err
	}
	if u.text != text {
		return clientURL{}, refuse("The client id must be in its canonical form: host in lower case, no port 443, nothing escaped that needs no escape.")
	}
	return u, nil
}

// canonical parses a URL by the rules for client ids. It normalizes the case of the scheme,
// the host and the escapes, and removes unneeded escapes and the default port (RFC 3986
// section 6.2.2). It uses no general URL parser, so that this file defines every accepted
// form.
func canonical(text string) (clientURL, error) {
	const scheme = "https://"
	switch {
	case len(text) > maxClientID:
		return clientURL{}, refuse("The client id must have at most 1000 characters.")
	case len(text) < len(scheme) || !strings.EqualFold(text[:len(scheme)], scheme):
		return clientURL{}, refuse("The client id must begin with https://.")
	case strings.Contains(text, "#"):
		return clientURL{}, refuse("The client id must not have a fragment.")
	case strings.Contains(text, "?"):
		return clientURL{}, refuse("The client id must not have a query.")
	}
	rest := text[len(scheme):]
	slash := strings.IndexByte(rest, '/')
	if slash < 0 {
		return clientURL{}, refuse("The client id must have a path, the address of a document.")
	}
	u, err := readAuthority(rest[:slash])
	if err != nil {
		return clientURL{}, err
	}
	if u.path, err = readPath(rest[slash:]); err != nil {
		return clientURL{}, err
	}
	u.text = scheme + u.authority() + u.path
	return u, nil
}

// readAuthority parses host and port.
func readAuthority(authority string) (clientURL, error) {
	if strings.Contains(authority, "@") {
		return clientURL{}, refuse("The client id must not have a user name or password.")
	}
	host, port := authority, ""
	if colon := strings.LastIndexByte(authority, ':'); colon > strings.LastIndexByte(authority, ']') {
		host, port = authority[:colon], authority[colon+1:]
		number, err := strconv.ParseUint(port, 10, 16)
		if err != nil || number == 0 || strconv.FormatUint(number, 10) != port {
			return clientURL{}, refuse("The client id must have a port from 1 to 65535, without leading zeros, or none.")
		}
	}
	if port == "443" {
		port = ""
	}
	host = strings.ToLower(host)
	literal, ok := readHost(host)
	if !ok {
		return clientURL{}, refuse("The client id must have the name of a host that is valid in DNS.")
	}
	return clientURL{host: host, port: port, literal: literal}, nil
}

// readHost accepts host names of letters, digits and hyphens, and IP addresses in standard
// form. For an IP address it returns the address; for a name, the zero address. It refuses
// a name whose last label is a number: some parsers read 127.1, 0x7f.1 and 2130706433 as
// loopback.
func readHost(host string) (netip.Addr, bool) {
	if bare, v6 := strings.CutPrefix(host, "["); v6 {
		bare, closed := strings.CutSuffix(bare, "]")
		addr, err := netip.ParseAddr(bare)
		return addr, closed && err == nil && addr.Is6() && addr.Zone() == "" && addr.String() == bare
	}
	labels := strings.Split(host, ".")
	if len(host) > 253 {
		return netip.Addr{}, false
	}
	for _, label := range labels {
		if !isLabel(label) {
			return netip.Addr{}, false
		}
	}
	if !isNumber(labels[len(labels)-1]) {
		return netip.Addr{}, true
	}
	addr, err := netip.ParseAddr(host)
	return addr, err == nil
}

// isLabel reports whether s is one valid label of a host name in lower case (RFC 1123
// section 2.1).
func isLabel(s string) bool {
	notInLabel := func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' }
	return s != "" && len(s) <= 63 && s[0] != '-' && s[len(s)-1] != '-' && !strings.ContainsFunc(s, notInLabel)
}

// isNumber reports whether a browser would read the last label of a host as part of an IPv4
// address.
func isNumber(label string) bool {
	if _, hexadecimal := strings.CutPrefix(label, "0x"); hexadecimal {
		return true
	}
	return strings.Trim(label, "0123456789") == ""
}

// readPath returns a path with normalized escapes. It fails for characters that must be
// escaped, broken escapes and the segments "." and "..".
func readPath(path string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		c := path[i]
		if c != '%' {
			if !isAlphanumeric(c) && strings.IndexByte(inPath, c) < 0 {
				return "", refuse("The client id has characters that must be escaped in a URL.")
			}
			b.WriteByte(c)
			continue
		}
		if i+2 >= len(path) {
			return "", refuse("The client id has an invalid percent escape.")
		}
		value, err := strconv.ParseUint(path[i+1:i+3], 16, 8)
		if err != nil {
			return "", refuse("The client id has an invalid percent escape.")
		}
		if c = byte(value); isAlphanumeric(c) || strings.IndexByte(unreserved, c) >= 0 {
			b.WriteByte(c)
		} else {
			b.WriteString(strings.ToUpper(path[i : i+3]))
		}
		i += 2
	}
	for segment := range strings.SplitSeq(b.String(), "/") {
		if segment == "." || segment == ".." {
			return "", refuse("The client id must not have . or .. in its path.")
		}
	}
	return b.String(), nil
}

// isAlphanumeric reports whether c is an ASCII letter or digit.
func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
