package standardhooks

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// maxURL is the length of the longest URL that CheckURL accepts, in bytes.
const maxURL = 2000

// fieldURL is the field that errors of CheckURL name.
const fieldURL = "url"

// privateNames are top-level domains that no host on the public Internet has (RFC 6761,
// 6762, 8375, and names of internal networks). The check of the IP address would refuse such
// hosts too. The list gives the author of the URL the reason at once.
var privateNames = []string{"localhost", "local", "internal", "intranet", "lan", "home", "corp", "arpa", "onion"}

// CheckURL fails with core.CodeValidationFailed on the field "url" for a URL that cannot
// receive webhooks. It must be an https URL without credentials and fragment. If networks is
// false, its host must be a name on the public Internet and its port 443. networks is true if
// the operator allows private networks. CheckURL resolves no name, so the address is checked
// once more for each connection.
func CheckURL(text string, networks bool) error {
	invalid := func(reason string) error { return core.Invalid(fieldURL, reason) }
	if len(text) > maxURL || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return invalid("must have at most 2,000 characters, all of them visible ASCII: encode others as in https://example.com/caf%C3%A9")
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "https" || u.Hostname() == "":
		return invalid("must begin with https:// and a host, such as https://example.com/mailhelm")
	case u.User != nil:
		return invalid("must not contain a user name or password: receivers check the signature instead")
	case u.Fragment != "" || strings.HasSuffix(text, "#"):
		return invalid("must not contain a fragment (#): remove it, because fragments are not sent to servers")
	case networks:
		return nil
	case u.Port() != "" && u.Port() != "443":
		return invalid("must have the port 443, which needs no number in the URL")
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if _, err := netip.ParseAddr(host); err == nil {
		return invalid("must have the name of a host, not an IP address")
	}
	if dot := strings.LastIndexByte(host, '.'); dot < 0 || slices.Contains(privateNames, host[dot+1:]) {
		return invalid("must have a host on the public Internet, or one in a network that the operator allows with --webhook-networks")
	}
	return nil
}
