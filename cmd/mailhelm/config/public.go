package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// PublicURL is one public address and the flag that sets it.
type PublicURL struct {
	Flag string
	URL  string
}

// URLs returns the public addresses that must not have a path: all except Docs.
func (p Public) URLs() []PublicURL {
	return []PublicURL{
		{"--base-url", p.API},
		{"--auth-url", p.Auth},
		{"--app-url", p.App},
		{"--mcp-url", p.MCP},
		{"--fetch-url", p.Fetch},
		{"--asset-url", p.Asset},
	}
}

// Check returns an error if a public address is malformed, or if the documentation has the
// address of the app or of the authorization server. It also refuses one address for both
// the API and the MCP endpoint. An access token is valid for the service whose address it
// contains, so with one address every token would be valid for both services. And it refuses
// the address of another service as the asset address.
func (p Public) Check() error {
	for _, one := range p.URLs() {
		if one.URL == "" {
			continue
		}
		if err := checkOrigin(one.URL); err != nil {
			return fmt.Errorf("%s %s: %w", one.Flag, one.URL, err)
		}
	}
	if p.Docs != "" {
		if _, err := parseWeb(p.Docs); err != nil {
			return fmt.Errorf("--docs-url %s: %w", p.Docs, err)
		}
	}
	if p.Docs != "" && (p.Docs == p.App || p.Docs == p.Auth) {
		return fmt.Errorf("--docs-url %s: needs a path of its own below the app's address, such as %s/docs", p.Docs, p.Docs)
	}
	for _, one := range p.URLs() {
		if p.Asset != "" && one.Flag != "--asset-url" && one.URL == p.Asset {
			return fmt.Errorf("%s and --asset-url are both %s: images of customers need an origin of their own, because SVG images can have scripts", one.Flag, one.URL)
		}
	}
	if p.API != "" && p.API == p.MCP {
		return fmt.Errorf("--base-url and --mcp-url are both %s: the API and the agent endpoint need addresses of their own, because access tokens are bound to one of them", p.API)
	}
	return nil
}

// checkOrigin returns an error unless raw is an http or https address without a path.
func checkOrigin(raw string) error {
	u, err := parseWeb(raw)
	if err == nil && u.Path != "" {
		err = errors.New("must end after the host and port, without a path or slash")
	}
	return err
}

// parseWeb parses an http or https address. It refuses a user name before the host, a
// query, a fragment, and upper case in the host; a path is allowed. The error text is the
// end of a sentence that begins with the flag and the address.
func parseWeb(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, fmt.Errorf("must be a web address such as https://api.example.com")
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, fmt.Errorf("must not hold a user, a query or a fragment")
	case u.Host != strings.ToLower(u.Host):
		return nil, fmt.Errorf("must be in lower case, because clients compare it byte for byte")
	}
	return u, nil
}

// localAssets is the default host of the asset address. Names below localhost are this machine (RFC
// 6761 section 6.3). Cookies of the other services, which are at localhost, are not sent to it,
// although cookies do not depend on ports.
const localAssets = "images.localhost"

// complete fills empty public addresses with http://localhost and the port of the service.
// An empty App gets the value of Auth. An empty Docs gets the value of App followed by
// /docs. An empty Asset gets the name images.localhost, if the asset host listens.
func (p Public) complete(l Listen) Public {
	for _, one := range []struct {
		into *string
		addr string
	}{{&p.API, l.API}, {&p.Auth, l.App}, {&p.MCP, l.MCP}, {&p.Fetch, l.Fetch}} {
		if *one.into == "" {
			*one.into = LocalURL(one.addr)
		}
	}
	if p.App == "" {
		p.App = p.Auth
	}
	if _, port, err := net.SplitHostPort(l.Asset); p.Asset == "" && err == nil {
		p.Asset = "http://" + net.JoinHostPort(localAssets, port)
	}
	if p.Docs == "" {
		p.Docs = p.App + "/docs"
	}
	return p
}

// Complete returns the public addresses and derives the empty ones from the listen
// addresses. If the system chooses a port, the address has port 0 until the server listens.
func (c Config) Complete() Public { return c.Public.complete(c.Listen) }

// LocalURL returns http://localhost with the port of addr, a listen address. It returns ""
// if addr is invalid.
func LocalURL(addr string) string {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return ""
	}
	return "http://" + net.JoinHostPort("localhost", port)
}

// AdminURL returns the address of the admin service of a server that listens on addr. The host is
// localhost if addr has none, or one that is only for listening. It returns "" if addr is invalid.
func AdminURL(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return ""
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && (ip.IsLoopback() || ip.IsUnspecified()) {
		return LocalURL(addr)
	}
	return "http://" + net.JoinHostPort(host, port)
}
