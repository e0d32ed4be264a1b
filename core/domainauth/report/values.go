package report

import (
	"bytes"
	"net/netip"
	"strconv"
	"unicode/utf8"
)

const (
	// maxWords and maxWordBytes bound the texts that are remembered.
	maxWords, maxWordBytes = 1 << 16, 4 << 20
	// maxValue is the size in bytes of a value. Domains have at most 253.
	maxValue = 1024
	// maxDetail is the size of the detail of a warning.
	maxDetail = 80
)

// words remembers texts, so that each is allocated once: reports repeat the same domains and words.
type words struct {
	known map[string]string
	bytes int
}

// of returns a text.
func (w *words) of(text []byte) string {
	switch string(text) { // the most frequent ones
	case "pass":
		return "pass"
	case "fail":
		return "fail"
	case "mfrom":
		return "mfrom"
	}
	if known, ok := w.known[string(text)]; ok {
		return known
	}
	if w.known == nil || len(w.known) >= maxWords || w.bytes >= maxWordBytes {
		w.known, w.bytes = map[string]string{}, 0
	}
	s := string(text)
	w.known[s] = s
	w.bytes += len(s)
	return s
}

// lower puts ASCII letters in lower case, in place. Domains with other letters stay as they are.
func lower(b []byte) []byte {
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return b
}

// domain returns a domain in lower case and without the dot at its end, in place.
func domain(b []byte) []byte { return bytes.TrimSuffix(lower(b), []byte(".")) }

// parseIP returns an IP address. IPv4 is read without memory.
func parseIP(b []byte) (netip.Addr, bool) {
	if ip, ok := parseIPv4(b); ok {
		return ip, true
	}
	if len(b) > len("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255") {
		return netip.Addr{}, false
	}
	ip, err := netip.ParseAddr(string(b))
	if err != nil || ip.Zone() != "" {
		return netip.Addr{}, false
	}
	return ip.Unmap(), true
}

func parseIPv4(b []byte) (netip.Addr, bool) {
	var parts [4]byte
	part := 0
	for begin := 0; ; part++ {
		end := begin
		n := 0
		for ; end < len(b) && '0' <= b[end] && b[end] <= '9' && end-begin < 4; end++ {
			n = n*10 + int(b[end]-'0')
		}
		if end == begin || n > 255 || end-begin > 1 && b[begin] == '0' {
			return netip.Addr{}, false
		}
		parts[part] = byte(n)
		if end == len(b) {
			return netip.AddrFrom4(parts), part == 3
		}
		if b[end] != '.' || part == 3 {
			return netip.Addr{}, false
		}
		begin = end + 1
	}
}

// parseCount returns a number of messages. Zero is none.
func parseCount(b []byte) (uint64, bool) {
	n, ok := parseDigits(b)
	if !ok || n == 0 || n > maxCount {
		return 0, false
	}
	return n, true
}

// maxCount is more than the mail of the whole world in some hours. A larger number is a mistake,
// which would hide all other figures.
const maxCount = 100_000_000_000

// parseDigits returns a number of at most 15 digits. A part after a point is left out: some reports
// have times such as "1500000000.25".
func parseDigits(b []byte) (uint64, bool) {
	if i := bytes.IndexByte(b, '.'); i > 0 {
		b = b[:i]
	}
	if len(b) == 0 || len(b) > 15 {
		return 0, false
	}
	n := uint64(0)
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return n, true
}

// appendDecoded appends text with its references replaced. unknown is called for each reference
// that XML does not define; it stays as it is.
func appendDecoded(dst, text []byte, unknown func(reference []byte)) []byte {
	for {
		i := bytes.IndexByte(text, '&')
		if i < 0 {
			return append(dst, text...)
		}
		dst, text = append(dst, text[:i]...), text[i:]
		end := bytes.IndexByte(text[:min(len(text), maxReference)], ';')
		r, ok := rune(0), false
		if end > 0 {
			r, ok = referenced(text[1:end])
		}
		if !ok {
			unknown(text[:max(end+1, 1)])
			dst, text = append(dst, '&'), text[1:]
			continue
		}
		dst, text = utf8.AppendRune(dst, r), text[end+1:]
	}
}

// maxReference is the size of the longest reference, such as "&#x10FFFF;", with leading zeros.
const maxReference = 16

func referenced(body []byte) (rune, bool) {
	switch string(body) {
	case "amp":
		return '&', true
	case "lt":
		return '<', true
	case "gt":
		return '>', true
	case "quot":
		return '"', true
	case "apos":
		return '\'', true
	}
	digits, base := bytes.TrimPrefix(body, []byte("#")), 10
	if len(digits) == len(body) {
		return 0, false
	}
	if hex, ok := bytes.CutPrefix(digits, []byte("x")); ok {
		digits, base = hex, 16
	}
	n, err := strconv.ParseUint(string(digits), base, 32)
	r := rune(n)
	if err != nil || n > utf8.MaxRune || !utf8.ValidRune(r) || r == 0 {
		return 0, false
	}
	return r, true
}
