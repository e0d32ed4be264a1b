package smtpd

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The largest parts of an address in bytes. RFC 5321 section 4.5.3.1.1 requires 64 for the
// local part, and senders of bounces use more.
const (
	maxLocal  = 128
	maxDomain = 255
	maxLabel  = 63
)

// parsePath reads the path in angle brackets at the beginning of the argument of MAIL or RCPT
// (RFC 5321 section 4.1.2), and returns its content and the parameters after it. A source route
// is removed (appendix C). It does not check the mailbox.
func parsePath(arg string) (mailbox string, parameters []string, ok bool) {
	arg, ok = strings.CutPrefix(strings.TrimLeft(arg, " "), "<")
	if !ok {
		return "", nil, false
	}
	end, quoted := -1, false
	for i := 0; i < len(arg) && end < 0; i++ {
		switch {
		case quoted && arg[i] == '\\':
			i++
		case arg[i] == '"':
			quoted = !quoted
		case arg[i] == '>' && !quoted:
			end = i
		}
	}
	if end < 0 {
		return "", nil, false
	}
	mailbox, rest := arg[:end], arg[end+1:]
	if rest != "" && rest[0] != ' ' {
		return "", nil, false
	}
	if strings.HasPrefix(mailbox, "@") {
		if _, mailbox, ok = strings.Cut(mailbox, ":"); !ok {
			return "", nil, false
		}
	}
	return mailbox, strings.Fields(rest), true
}

// isMailbox reports whether s is a mailbox of RFC 5321 section 4.1.2 with the extension of RFC
// 6531. Dots may be anywhere in a local part, because mail with such senders exists.
func isMailbox(s string) bool {
	if !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
		return false
	}
	var local, domain string
	if strings.HasPrefix(s, `"`) {
		end := endOfQuoted(s)
		if end < 0 || !strings.HasPrefix(s[end:], "@") {
			return false
		}
		local, domain = s[:end], s[end+1:]
	} else {
		at := strings.IndexByte(s, '@')
		if at < 1 || strings.ContainsFunc(s[:at], notAtom) {
			return false
		}
		local, domain = s[:at], s[at+1:]
	}
	return len(local) <= maxLocal && isDomain(domain)
}

// endOfQuoted returns the index after the quoted string at the beginning of s, or -1.
func endOfQuoted(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// notAtom reports whether a character must not be in a local part without quotes (atext of RFC
// 5322 section 3.2.3, the dot, and characters beyond ASCII).
func notAtom(r rune) bool {
	return r <= ' ' || r < utf8.RuneSelf && strings.ContainsRune("()<>[]:;@\\,\"", r)
}

// isDomain reports whether s is a domain of letters, digits, hyphens, underscores and
// characters beyond ASCII, or an address in square brackets.
func isDomain(s string) bool {
	if len(s) > maxDomain {
		return false
	}
	if literal, ok := strings.CutPrefix(s, "["); ok {
		literal, ok = strings.CutSuffix(literal, "]")
		return ok && literal != "" && !strings.ContainsFunc(literal, func(r rune) bool { return !isDomainRune(r) && r != ':' && r != '.' || r >= utf8.RuneSelf })
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > maxLabel || strings.ContainsFunc(label, func(r rune) bool { return !isDomainRune(r) }) {
			return false
		}
	}
	return true
}

func isDomainRune(r rune) bool {
	return r >= utf8.RuneSelf || r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// isASCII reports whether s has only characters of ASCII.
func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// isClientName reports whether s may be the argument of HELO or EHLO. Many clients give
// something that is no domain, so any printable ASCII without spaces is accepted.
func isClientName(s string) bool {
	return s != "" && len(s) <= maxDomain && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}
