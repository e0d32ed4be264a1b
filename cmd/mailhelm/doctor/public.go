package doctor

import (
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
)

// publicURLs checks that public addresses outside this machine use https. It checks that
// the API and the MCP endpoint have different addresses, and that the fetch host has an
// address of its own. It also checks that a public address on this machine has the port on
// which its service listens. If a setting is invalid, it adds no result, because the method
// settings reports that setting.
func (e *examination) publicURLs() {
	const name = "public addresses"
	if e.cfg.Check() != nil {
		return
	}
	public := e.cfg.Complete()
	before := len(e.report.Checks)
	for _, one := range public.URLs() {
		if one.URL != "" && unsafe(one.URL) {
			e.add(name, Fail, fmt.Sprintf("%s %s is not https, so credentials and tokens are sent unencrypted", one.Flag, one.URL), "Put a TLS proxy in front, and set its https address.")
		}
	}
	if public.API == public.MCP {
		e.add(name, Fail, "the API and the agent endpoint have the same address, so their tokens would be interchangeable", "Give --base-url and --mcp-url different hosts or ports.")
	}
	e.sharedOrigins(name, public)
	e.sharedCookies(name, public)
	e.localPorts(name, public)
	if len(e.report.Checks) == before {
		e.add(name, OK, "API "+public.API+", agents "+public.MCP+", auth "+public.Auth, "")
	}
}

// unsafe reports whether a public address uses plain http and is not on this machine. An
// invalid address counts as unsafe.
func unsafe(address string) bool {
	u, err := url.Parse(address)
	return err != nil || u.Scheme != "https" && !isLocal(u.Hostname())
}

// isLocal reports whether a host is this machine: localhost, a name ending in .localhost
// (RFC 6761 section 6.3), or a loopback address.
func isLocal(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}

// sharedCookies adds a Warn if the asset host has the host name of another service: cookies do not
// depend on ports, so browsers send those of the other service to the asset host too.
func (e *examination) sharedCookies(name string, public config.Public) {
	for _, other := range []string{public.API, public.Auth, public.App, public.MCP} {
		if public.Asset != "" && hostOf(other) == hostOf(public.Asset) {
			e.add(name, Warn, "--asset-url "+public.Asset+" has the same host as "+other+", so browsers send the cookies of that service with requests for images", "Give the asset host a host name of its own, best below another domain.")
			return
		}
	}
}

// hostOf returns the host name of an address, without the port.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// sharedOrigins adds a Fail if the fetch host has the same origin as another service. The
// fetch host is the service that shows mail from strangers. Scripts in that mail must not
// run in the origin of another service.
func (e *examination) sharedOrigins(name string, public config.Public) {
	for _, other := range public.URLs() {
		if other.Flag != "--fetch-url" && other.URL == public.Fetch {
			e.add(name, Fail, "--fetch-url and "+other.Flag+" are both "+public.Fetch+", and the fetch host shows mail from unknown senders", "Give the fetch host an origin of its own.")
		}
	}
}

// localPorts adds a Warn if a public address on this machine has another port than the one
// on which its service listens.
func (e *examination) localPorts(name string, public config.Public) {
	l := e.cfg.Listen
	for _, one := range []struct{ flag, address, listen string }{
		{"--base-url", public.API, l.API},
		{"--auth-url", public.Auth, l.App},
		{"--mcp-url", public.MCP, l.MCP},
		{"--fetch-url", public.Fetch, l.Fetch},
		{"--asset-url", public.Asset, l.Asset},
	} {
		u, err := url.Parse(one.address)
		if err != nil || !isLocal(u.Hostname()) || u.Scheme != "http" {
			continue
		}
		port := u.Port()
		if port == "" {
			port = "80"
		}
		if _, listens, err := net.SplitHostPort(one.listen); err == nil && listens != port {
			e.add(name, Warn, fmt.Sprintf("%s is %s, but the service listens on %s", one.flag, one.address, one.listen), "Use the same port for both, unless a proxy forwards from one to the other.")
		}
	}
}
