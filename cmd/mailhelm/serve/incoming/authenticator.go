package incoming

import (
	"context"
	"net"
	"sync/atomic"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core/channels/resolver"
	"github.com/mailhelm/mailhelm/core/mailauth/verify"
)

// newAuthenticator returns what checks SPF, DKIM and DMARC, with the configured name servers.
func newAuthenticator(cfg config.Config) *verify.Authenticator {
	a := &verify.Authenticator{Clock: cfg.Clock, Log: cfg.Log}
	var remembered *verify.Memory
	switch servers := cfg.DNSServers; {
	case cfg.NoDNS():
		return a
	case len(servers) == 0:
		remembered = verify.Remember(&net.Resolver{PreferGo: true}, resolver.System(), cfg.Clock)
	default:
		remembered = verify.Remember(resolverOf(servers), &resolver.Resolver{Servers: servers}, cfg.Clock)
	}
	a.Resolver, a.Existence = remembered, remembered
	return a
}

// resolverOf returns a resolver that asks the name servers in turn.
func resolverOf(servers []string) *net.Resolver {
	var asked atomic.Uint64
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		next := servers[asked.Add(1)%uint64(len(servers))]
		return (&net.Dialer{}).DialContext(ctx, network, next)
	}}
}
