package mask

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"
)

// These expressions match sequences that may be encoded text. Shorter sequences of base64
// and hexadecimal digits cannot contain an encoded address.
var (
	base64Run  = regexp.MustCompile(`[A-Za-z0-9+/_-]{8,}`)
	hexRun     = regexp.MustCompile(`(?i)[0-9a-f]{12,}`)
	percentRun = regexp.MustCompile(`[\w.!$*+~{|}^@%-]*%[0-9A-Fa-f]{2}[\w.!$*+~{|}^@%-]*`)
)

// encodedAddress matches an address in decoded bytes. It is stricter than anyAddress, so
// that decoded random bytes rarely match.
var encodedAddress = regexp.MustCompile(`[\p{L}\p{N}.!#$*+_~{|}^=-](?:@|%40)[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*\.\p{L}{2,}`)

// maxEncodings is the maximum number of nested encodings that are decoded, such as base64
// within a percent-encoded link.
const maxEncodings = 3

// maskEncoded returns s with *** for every sequence that decodes to text with an address or
// a recipient's name (the part of the address before the @). It decodes base64 (either
// alphabet, with or without padding), hexadecimal digits and percent-encoding, which links
// in click events contain.
func (m Mask) maskEncoded(s string, depth int) string {
	if depth == maxEncodings || len(s) < 8 {
		return s
	}
	s = percentRun.ReplaceAllStringFunc(s, func(run string) string {
		if !strings.Contains(strings.ReplaceAll(run, "%40", "@"), "%") {
			return run // a run whose only escape is %40 is masked by Mask.Text, which keeps the domain
		}
		if text, err := url.PathUnescape(run); err == nil && m.names(text, depth) {
			return hidden
		}
		return run
	})
	s = hexRun.ReplaceAllStringFunc(s, func(run string) string {
		if m.isNameInHex(run, depth) {
			return hidden
		}
		return run
	})
	return base64Run.ReplaceAllStringFunc(s, func(run string) string { return m.withoutBase64(run, depth) })
}

// names reports whether a decoded text contains an address or the name of a recipient,
// directly or in another encoding. depth is the number of encodings that were decoded
// before.
func (m Mask) names(text string, depth int) bool {
	switch {
	case encodedAddress.MatchString(text), m.whole != nil && m.whole.MatchString(text), m.local != nil && m.local.MatchString(text):
		return true
	}
	// Decoded bytes that are not UTF-8 text are not decoded again.
	return utf8.ValidString(text) && m.maskEncoded(text, depth+1) != text
}

// isNameInHex reports whether hexadecimal digits decode to text with an address or a
// recipient's name. It decodes them twice, with and without the first digit, because that
// digit may belong to the text before.
func (m Mask) isNameInHex(run string, depth int) bool {
	for from := range 2 {
		digits := run[from:]
		text, err := hex.DecodeString(digits[:len(digits)/2*2])
		if err == nil && m.names(string(text), depth) {
			return true
		}
	}
	return false
}

// withoutBase64 returns the text run with *** in place of each segment between slashes that
// decodes to text with an address or a recipient's name. A slash is also a base64
// character. So if no segment decodes to such text, withoutBase64 tries the whole text.
func (m Mask) withoutBase64(run string, depth int) string {
	segments := strings.Split(run, "/")
	found := false
	for i, segment := range segments {
		if m.isNameInBase64(segment, depth) {
			segments[i], found = hidden, true
		}
	}
	switch {
	case found:
		return strings.Join(segments, "/")
	case len(segments) > 1 && m.isNameInBase64(run, depth):
		return hidden
	}
	return run
}

var oneAlphabet = strings.NewReplacer("-", "+", "_", "/")

// isNameInBase64 reports whether the text run hides an address or a recipient's name in
// base64. The base64 text may begin at any character of run. Base64 encodes in groups of
// four characters, so isNameInBase64 tries each of the first four as the beginning.
func (m Mask) isNameInBase64(run string, depth int) bool {
	run = oneAlphabet.Replace(run)
	for from := 0; from < 4 && len(run)-from >= 8; from++ {
		letters := run[from:]
		if len(letters)%4 == 1 {
			letters = letters[:len(letters)-1]
		}
		text, err := base64.RawStdEncoding.DecodeString(letters)
		if err == nil && m.names(string(text), depth) {
			return true
		}
	}
	return false
}
