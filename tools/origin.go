package tools

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// originSet has the web origins whose pages may call this host: the host's own and
// [Config.AllowedOrigins].
type originSet map[string]bool

// newOriginSet returns the set of the host's own origin and the allowed ones. It fails for
// an address that is not scheme://host.
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

// originOf returns the origin of a URL as browsers send it: in lower case, without the
// default port of the scheme (RFC 6454 section 6.2).
func originOf(u *url.URL) string {
	host := strings.ToLower(u.Host)
	if port := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]; port != "" {
		host = strings.TrimSuffix(host, port)
	}
	return u.Scheme + "://" + host
}

// check fails with status 403 for a request from a page of an origin that is not allowed.
// This also prevents DNS rebinding. Agents send no Origin header and are not affected.
func (o originSet) check(h http.Header) error {
	if _, allowed := o.allowedOrigin(h); allowed || h["Origin"] == nil {
		return nil
	}
	return headerRefusal(http.StatusForbidden, "Origin", "is not an origin that may call this endpoint").
		WithNext("Call from a server or a desktop program, or have the operator allow this origin.")
}

// allowedOrigin returns the request's origin. It returns false unless the request has
// exactly one Origin header with an allowed origin.
func (o originSet) allowedOrigin(h http.Header) (string, bool) {
	if named := h["Origin"]; len(named) == 1 && o[named[0]] {
		return named[0], true
	}
	return "", false
}
