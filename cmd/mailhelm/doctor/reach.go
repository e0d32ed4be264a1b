package doctor

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
)

// forged is an address that no caller has (RFC 5737). The examination sends it as if a client
// forged the header X-Forwarded-For.
const forged = "192.0.2.123"

// reach checks each public address that is configured: that its name has an address in DNS, that
// a service of Mailhelm answers there, and that the proxy forwards the host name and the address
// of the caller. Failures are warnings, because the server may not run yet. It asks no address
// that is only derived.
func (e *examination) reach(ctx context.Context) {
	if e.cfg.Role == config.Worker || e.cfg.Check() != nil {
		return
	}
	const name = "public names"
	configured, reached := 0, 0
	for _, one := range []struct{ flag, address, service string }{
		{"--base-url", e.cfg.Public.API, config.APIService},
		{"--auth-url", e.cfg.Public.Auth, config.AppService},
		{"--mcp-url", e.cfg.Public.MCP, config.MCPService},
		{"--fetch-url", e.cfg.Public.Fetch, config.FetchService},
		{"--asset-url", e.cfg.Public.Asset, config.AssetService},
	} {
		if one.address == "" {
			continue
		}
		configured++
		if e.reachOne(ctx, name, one.flag, one.address, one.service) {
			reached++
		}
	}
	if configured > 0 && reached == configured {
		e.add(name, OK, fmt.Sprintf("%d public addresses have DNS records and lead to this program", configured), "")
	}
}

// reachOne checks one public address. It returns false if it added a warning about it.
func (e *examination) reachOne(ctx context.Context, name, flag, address, service string) bool {
	lookup := e.cfg.LookupHost
	if lookup == nil {
		lookup = net.DefaultResolver.LookupHost
	}
	if host := hostOf(address); !isLocal(host) {
		if found, err := lookup(ctx, host); err != nil || len(found) == 0 {
			e.add(name, Warn, fmt.Sprintf("%s: %s has no address in DNS: %v", flag, host, err), "Create an A or AAAA record that names the proxy.")
			return false
		}
	}
	answer, err := e.askPublic(ctx, address+config.HealthPath(service)) //nolint:bodyclose // askPublic has closed it
	switch {
	case err != nil:
		e.add(name, Warn, fmt.Sprintf("%s %s does not answer: %v", flag, address, err), "Start the server, and check the proxy: its address, port and certificate.")
	case answer.StatusCode == http.StatusMisdirectedRequest:
		e.add(name, Warn, fmt.Sprintf("%s %s answers 421: the server got another host name", flag, address), "Let the proxy forward the header Host, and give the server the same public addresses.")
	case answer.StatusCode != http.StatusOK:
		e.add(name, Warn, fmt.Sprintf("%s %s answers %d", flag, address, answer.StatusCode), "Check that the proxy sends this name to Mailhelm, and not to another program.")
	case service == config.APIService:
		e.proxyHeaders(address, answer.Header.Get(config.ClientHeader))
		return true
	default:
		return true
	}
	return false
}

// askPublic requests an address with a forged header X-Forwarded-For. It does not follow
// redirects.
func (e *examination) askPublic(ctx context.Context, address string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("X-Forwarded-For", forged)
	client := e.cfg.PublicClient
	if client == nil {
		client = &http.Client{
			Transport:     &http.Transport{DisableKeepAlives: true, Proxy: http.ProxyFromEnvironment},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	answer, err := client.Do(r)
	if err != nil {
		if wrapped, ok := err.(*url.Error); ok { //nolint:errorlint // the client returns no other type
			err = wrapped.Err // its text repeats the address
		}
		return nil, err
	}
	_, err = io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<20))
	if closed := answer.Body.Close(); err == nil {
		err = closed
	}
	return answer, err
}

// proxyHeaders checks which address of the caller the server saw. seen is host:port, "" if the
// answer does not say.
func (e *examination) proxyHeaders(address, seen string) {
	const name = "proxy headers"
	host, _, err := net.SplitHostPort(seen)
	ip, parseErr := netip.ParseAddr(host)
	switch {
	case err != nil || parseErr != nil:
		e.add(name, Warn, "the answer of "+address+" has no header "+config.ClientHeader, "Run the same version of Mailhelm there, and let the proxy forward all headers of answers.")
	case host == forged:
		e.add(name, Fail, "the server believed a forged X-Forwarded-For, so callers can choose the address by which they are limited", "Let the proxy replace or extend X-Forwarded-For, and set --trusted-proxies to the addresses of the proxies alone.")
	case (ip.IsPrivate() || ip.IsLoopback()) && !isLocal(hostOf(address)):
		e.add(name, Warn, "the server saw the caller at "+host+", which may be the proxy: then all callers share one limit for sign-ins", "Let the proxy send X-Forwarded-For, and set --trusted-proxies to its address. In a private network this can be the address of this machine.")
	default:
		e.add(name, OK, "the server saw this machine as "+host, "")
	}
}
