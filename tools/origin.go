package tools

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// originSet holds the origins whose pages may call: this host's own and those
// that the operator listed.
type originSet map[string]bool

// newOriginSet fails with an address that is not scheme://host.
func newOriginSet(mcpURL string, allowed []string) (originSet, error) {
	set := make(originSet, 1+len(allowed))
	for _, address := range append([]string{mcpURL}, allowed...) {
		u, err := url.Parse(address)
		if err != nil || u.Scheme == "" || u.Host == "" {
			return nil, fmt.Errorf("origin %q is not scheme://host", address)
		}
		set[originOf(u)] = true
	}
	return set, nil
}

// originOf is the origin as browsers write it: in small letters, and without the
// port that the scheme implies (RFC 6454 section 6.2).
func originOf(u *url.URL) string {
	host := strings.ToLower(u.Host)
	if port := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]; port != "" {
		host = strings.TrimSuffix(host, port)
	}
	return u.Scheme + "://" + host
}

// check refuses what a browser sends for a page of another origin, which
// also covers a name that was rebound to this machine. Agents send no Origin.
func (o originSet) check(h http.Header) error {
	if _, allowed := o.allowed(h); allowed || h["Origin"] == nil {
		return nil
	}
	return headerRefusal(http.StatusForbidden, "Origin", "is not an origin that may call this endpoint").
		WithNext("Call from a server or a desktop program, or have the operator allow this origin.")
}

// allowed returns the one origin that a request names, when its pages may call.
func (o originSet) allowed(h http.Header) (string, bool) {
	if named := h["Origin"]; len(named) == 1 && o[named[0]] {
		return named[0], true
	}
	return "", false
}
