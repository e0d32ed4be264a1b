package access

import (
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// maxRedirectURI is the longest redirect URI that can be registered, in bytes.
const maxRedirectURI = 2000

// loopbackHosts are the hosts that a redirect URI may name without TLS. An authorization
// code for one of these hosts is never sent to another of them.
var loopbackHosts = []string{"localhost", "127.0.0.1", "[::1]"}

// CheckRedirectURI fails for a redirect URI that cannot be registered. It must be an
// absolute https URL, or http on a loopback host. It must have no user, fragment, wildcard
// or character that browsers rewrite (RFC 6749 section 3.1.2). The error is a phrase for
// the person who registers the client.
func CheckRedirectURI(uri string) error {
	if len(uri) > maxRedirectURI {
		return errors.New("must have at most 2000 characters")
	}
	if strings.ContainsFunc(uri, isAmbiguousRune) {
		return errors.New("must not have spaces, control characters, backslashes, wildcards or characters outside ASCII")
	}
	if !possiblePort(uri) {
		return errors.New("must have a port from 1 to 65535 after the colon, or no colon")
	}
	u, err := url.Parse(uri)
	switch {
	case err != nil || u.Host == "" || u.Hostname() == "":
		return errors.New("must be an absolute URL with a host")
	case strings.Contains(uri, "#"):
		return errors.New("must not have a fragment")
	case u.User != nil || strings.Contains(u.Host, "@"):
		return errors.New("must not have a user")
	}
	if _, _, loopback := splitLoopback(uri); !strings.HasPrefix(uri, "https://") && !loopback {
		return errors.New("must begin with https://, or with http:// and localhost, 127.0.0.1 or [::1]")
	}
	return nil
}

// isAmbiguousRune reports whether browsers may rewrite the character or read it as another
// one.
func isAmbiguousRune(r rune) bool {
	return r <= ' ' || r >= unicode.MaxASCII || strings.ContainsRune(`\*"<>`, r)
}

// MayRedirect reports whether an authorization code may be sent to the redirect URI of a
// request. The URI must equal a registered one byte for byte (RFC 9700 section 4.1.3). Only
// the port of a loopback URI may differ, for a public client that belongs to no
// organization: a native application listens on any free port (RFC 8252 section 7.3).
func (c Client) MayRedirect(requested string) bool {
	anyPort := c.Open() && c.SecretHash == nil
	return slices.ContainsFunc(c.RedirectURIs, func(uri string) bool {
		if CheckRedirectURI(uri) != nil {
			return false
		}
		if uri == requested {
			return true
		}
		host, rest, loopback := splitLoopback(uri)
		askedHost, askedRest, asked := splitLoopback(requested)
		return anyPort && loopback && asked && host == askedHost && rest == askedRest
	})
}

// possiblePort reports whether an absolute URI has no port, or a port from 1 to 65535. It
// returns true for text without "://", which CheckRedirectURI refuses for another reason.
func possiblePort(uri string) bool {
	_, after, ok := strings.Cut(uri, "://")
	if !ok {
		return true
	}
	authority := after
	if end := strings.IndexAny(after, "/?#"); end >= 0 {
		authority = after[:end]
	}
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		authority = authority[at+1:]
	}
	// An IPv6 address has colons too, but only inside its brackets.
	colon := strings.IndexByte(authority[strings.LastIndexByte(authority, ']')+1:], ':')
	if colon < 0 {
		return true
	}
	return isPort(authority[strings.LastIndexByte(authority, ']')+1+colon:])
}

// splitLoopback returns the host of an http URI on a loopback host, and the part after the
// port. It returns false for any other URI. It does not decode or normalize the URI.
func splitLoopback(uri string) (string, string, bool) {
	after, ok := strings.CutPrefix(uri, "http://")
	if !ok {
		return "", "", false
	}
	authority, rest := after, ""
	if end := strings.IndexAny(after, "/?#"); end >= 0 {
		authority, rest = after[:end], after[end:]
	}
	for _, host := range loopbackHosts {
		port, found := strings.CutPrefix(authority, host)
		if found && (port == "" || isPort(port)) {
			return host, rest, true
		}
	}
	return "", "", false
}

// isPort reports whether s is ":" and a number from 1 to 65535 without leading zeros.
func isPort(s string) bool {
	digits, ok := strings.CutPrefix(s, ":")
	number, err := strconv.ParseUint(digits, 10, 16)
	return ok && err == nil && number > 0 && strconv.FormatUint(number, 10) == digits
}

// IsLoopbackRedirect reports whether a redirect URI leads to the person's own computer,
// where any program may listen.
func IsLoopbackRedirect(uri string) bool {
	_, _, loopback := splitLoopback(uri)
	return loopback
}
